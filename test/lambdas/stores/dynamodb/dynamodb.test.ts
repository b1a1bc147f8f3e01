import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test } from 'vitest';
import { createDynamoDB, toItem } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';

const client = new DynamoDBClient({ region: 'us-east-1' });
// The instance only: a mock of the class would answer for the clients of other files in this process.
const dynamodb = mockClient(client);
afterEach(() => dynamodb.reset());
const db = createDynamoDB(client);
const $metadata = {};

const failing = (error: Error | string) => {
  dynamodb.onAnyCommand().rejects(error);
  return db.put({ table: 'accounts', item: { pk: 'a' }, condition: 'attribute_not_exists(pk)' });
};

test('BILL-13 a failed condition is an answer with the item as it stood', async () => {
  const Item = { pk: { S: 'a' }, amount: { N: '9007199254740993' } };
  const error = new ConditionalCheckFailedException({ message: 'm', $metadata, Item });
  expect(await failing(error)).toEqual({ conditionFailed: { pk: 'a', amount: 9007199254740993n } });
});

test.each([
  ['throttled', new ThrottlingException({ message: 'm', $metadata })],
  ['throttled', new ProvisionedThroughputExceededException({ message: 'm', $metadata })],
  ['throttled', new RequestLimitExceeded({ message: 'm', $metadata })],
  ['conflict', new TransactionConflictException({ message: 'm', $metadata })],
  ['unavailable', Object.assign(new Error('m'), { name: 'InternalServerError', $metadata })],
  ['unavailable', Object.assign(new Error('m'), { name: 'TransactionInProgressException', $metadata })],
  ['unavailable', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
  ['unavailable', Object.assign(new SyntaxError('a page instead of JSON'), { $metadata })],
  ['unavailable', Object.assign(new TypeError('a reply of null'), { $response: {} })],
  ['unavailable', new SyntaxError('a reply cut short')],
])('BILL-14 %s: %s is no definite answer', async (kind, error) => {
  await expect(failing(error)).rejects.toMatchObject({ name: 'StoreError', kind });
});

test.each([
  Object.assign(new Error('reserved word'), { name: 'ValidationException', $metadata }),
  new TypeError('undefined is no function'),
])('ERR-5 a mistake of ours is not taken for an outage: %s', async (error) => {
  await expect(failing(error)).rejects.toBe(error);
});

test('BILL-3 integers beyond 2^53 are read as exact bigints, fractions as numbers, at every depth', () => {
  const item = toItem({
    amount: { N: '9007199254740993' },
    most: { N: `-${'9'.repeat(38)}` },
    progress: { N: '12.5' },
    holds: { M: { one: { M: { amount: { N: '18446744073709551617' } } } } },
    list: { L: [{ N: '1' }, { S: 'x' }] },
    set: { SS: ['a', 'b'] },
    shown: { BOOL: false },
    unknown: { NULL: true },
  });
  expect(item).toEqual({
    amount: 9007199254740993n,
    most: -(10n ** 38n - 1n),
    progress: 12.5,
    holds: { one: { amount: 18446744073709551617n } },
    list: [1n, 'x'],
    set: new Set(['a', 'b']),
    shown: false,
  });
});
