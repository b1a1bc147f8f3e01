import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test } from 'vitest';
import { createDynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { createScriptedClient } from './scripted-client.ts';

const dynamodb = createScriptedClient();
afterEach(() => dynamodb.reset());
const db = createDynamoDB(dynamodb.client, Date.now);
const $metadata = {};

/** Both ways to the table have to treat an error alike. */
const ways = [db, db.hot];
const put = { table: 'accounts', item: { pk: 'a' }, condition: 'attribute_not_exists(pk)' };

test('BILL-13 a failed condition returns the stored item', async () => {
  const Item = { pk: { S: 'a' }, amount: { N: '9007199254740993' } };
  const error = new ConditionalCheckFailedException({ message: 'm', $metadata, Item });
  dynamodb.rejectWith(error);
  for (const way of ways)
    expect(await way.put(put)).toEqual({ conditionFailed: { pk: 'a', amount: 9007199254740993n } });
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
])('BILL-14 %s: %s is not a definite result', async (kind, error) => {
  dynamodb.rejectWith(error);
  for (const way of ways) await expect(way.put(put)).rejects.toMatchObject({ name: 'StoreError', kind });
});

test('ERR-5 a programming error is not an outage', async () => {
  const invalid = Object.assign(new Error('reserved word'), { name: 'ValidationException', $metadata });
  dynamodb.rejectWith(invalid);
  for (const way of ways) await expect(way.put(put)).rejects.toBe(invalid);
  const unsent = new TypeError('undefined is not a function');
  dynamodb.rejectWith(unsent);
  await expect(db.put(put)).rejects.toBe(unsent);
});

test('ERR-5 a hot call that cannot be built is not an outage, unlike an error after it was sent', async () => {
  const broken = new TypeError('undefined is not a function');
  const item = new Proxy(
    { pk: 'a' },
    {
      ownKeys: () => {
        throw broken;
      },
    },
  );
  await expect(db.hot.put({ ...put, item })).rejects.toBe(broken);
  expect(dynamodb.bodies).toEqual([]);
  dynamodb.rejectWith(broken);
  await expect(db.hot.put(put)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});

test('BILL-3 both clients of the table send the same bytes, with integers beyond 2^53', async () => {
  const values = {
    ':amount': 9007199254740993n,
    ':back': -(10n ** 38n - 1n),
    ':progress': 12.5,
    ':hold': { amount: 18446744073709551617n, expiresAt: 1_793_491_200_000 },
    ':accounts': new Set(['a', 'b']),
    ':ignored': ['x', 'y'],
    ':shown': false,
    ':none': {},
    ':empty': '',
  };
  const change = { table: 'accounts', key: { pk: 'a', sk: 'b' }, update: 'SET a = :amount', values };
  for (const way of ways) {
    await way.update({
      ...change,
      names: { '#a': 'a' },
      condition: '#a = :none',
      returns: 'ALL_NEW',
      onFailure: 'NONE',
    });
    await way.put({ table: 'accounts', item: values });
  }
  const [updated, stored, ...hot] = dynamodb.bodies;
  expect(hot).toEqual([updated, stored]);
  expect(stored?.Item).toEqual({
    ':amount': { N: '9007199254740993' },
    ':back': { N: `-${'9'.repeat(38)}` },
    ':progress': { N: '12.5' },
    ':hold': { M: { amount: { N: '18446744073709551617' }, expiresAt: { N: '1793491200000' } } },
    ':accounts': { SS: ['a', 'b'] },
    ':ignored': { L: [{ S: 'x' }, { S: 'y' }] },
    ':shown': { BOOL: false },
    ':none': { M: {} },
    ':empty': { S: '' },
  });
});
