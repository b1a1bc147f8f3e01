import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { send } from '../../../../lambdas/stores/dynamodb/failures.ts';

const failing = (error: unknown) => send(() => Promise.reject(error));
const $metadata = {};

test('BILL-13 a failed condition is an answer with the item as it stood', async () => {
  const Item = { pk: { S: 'a' } };
  const error = new ConditionalCheckFailedException({ message: 'm', $metadata, Item });
  expect(await failing(error)).toEqual({ conditionFailed: Item });
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
