import {
  type CancellationReason,
  ThrottlingException,
  TransactionCanceledException,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test } from 'vitest';
import { createAccountStore } from '../../../../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../../../lambdas/stores/dynamodb/ledger-store.ts';
import { createUpdateLog } from '../../../../lambdas/stores/dynamodb/update-log.ts';
import { accountNamed, keyNamed, OPENED_AT_MS } from '../../../contracts/account-subjects.ts';
import { createScriptedClient } from './scripted-client.ts';

const dynamodb = createScriptedClient();
afterEach(() => dynamodb.reset());

const db = createDynamoDB(dynamodb.client, Date.now);
const accounts = createAccountStore(db, { accounts: 'accounts', keys: 'keys' });
const keys = createKeyStore({ once: db, repeating: db }, { accounts: 'accounts', keys: 'keys' });
const ledger = createLedgerStore({ once: db, repeating: db }, 'accounts');
const updates = createUpdateLog(db, 'counters');

const id = 'account-1';
const $metadata = {};
const at = OPENED_AT_MS;

const transactions: Record<string, () => Promise<unknown>> = {
  open: () => accounts.open(accountNamed(id, { creditPicos: 5n })),
  putFirstKey: () => keys.putFirstKey(id, keyNamed('new'), at),
  replaceKey: () => keys.replaceKey({ accountId: id, oldHash: 'old', key: keyNamed('new'), atMs: at }),
  revokeKey: () => keys.revokeKey(id, 'old'),
  block: () => accounts.setBlocked(id, true, 'old'),
  blockWithoutKey: () => accounts.setBlocked(id, true, undefined),
  credit: () => ledger.credit({ accountId: id, ref: 'r', amountPicos: 5n, reason: 'test', at }),
};
const singles: Record<string, () => Promise<unknown>> = {
  chat: () => accounts.chat('c'),
  profile: () => accounts.profile(id),
  currentKey: () => keys.currentKey(id),
  markShown: () => keys.markShown(id, 'old'),
  setThreshold: () => accounts.setThreshold(id, 1n),
  setLanguage: () => accounts.setLanguage('c', 'en'),
  setChatClosed: () => accounts.setChatClosed('c', true),
  markNoticed: () => accounts.markNoticed('c', 1),
  claim: () => updates.claim('update#1', at),
  finish: () => updates.finish('update#1', at),
  free: () => updates.free('update#1'),
};

const cancelled = (...codes: string[]): TransactionCanceledException => {
  const CancellationReasons: CancellationReason[] = codes.map((Code) => ({ Code }));
  return new TransactionCanceledException({ message: 'cancelled', $metadata, CancellationReasons });
};

test.each(Object.entries({ ...transactions, ...singles }))(
  'BILL-14 %s reports a throttled store and does not repeat the call',
  async (_method, call) => {
    const cause = new ThrottlingException({ message: 'm', $metadata });
    dynamodb.rejectWith(cause);
    await expect(call()).rejects.toMatchObject({ name: 'StoreError', kind: 'throttled', cause });
    expect(dynamodb.bodies).toHaveLength(1);
  },
);

test.each([
  ['conflict', ['None', 'TransactionConflict']],
  ['conflict', []],
  ['throttled', ['ThrottlingError', 'None']],
  ['throttled', ['TransactionConflict', 'ProvisionedThroughputExceeded']],
])('BILL-14 a transaction is reported as %s when it is cancelled for %j', async (kind, codes) => {
  dynamodb.rejectWith(cancelled(...codes));
  await expect(transactions.credit?.()).rejects.toMatchObject({ name: 'StoreError', kind });
  expect(dynamodb.bodies).toHaveLength(1);
});

const FAILED = 'ConditionalCheckFailed';

test.each([
  ['open', [FAILED, 'None'], 'exists'],
  ['open', ['TransactionConflict', 'None', 'None', FAILED], 'exists'],
  ['putFirstKey', [FAILED, 'None', 'None'], 'no-account'],
  ['putFirstKey', ['None', FAILED, 'None'], 'has-key'],
  ['putFirstKey', ['TransactionConflict', FAILED, 'None'], 'has-key'],
  ['replaceKey', [FAILED, 'None', 'None', 'None'], 'blocked'],
  ['replaceKey', [FAILED, FAILED, 'None', 'None'], 'blocked'],
  ['replaceKey', ['None', FAILED, FAILED, 'None'], 'changed'],
  ['replaceKey', ['TransactionConflict', FAILED, 'None', 'TransactionConflict'], 'changed'],
  ['revokeKey', [FAILED, 'None'], 'changed'],
  ['block', [FAILED, FAILED, 'None'], 'no-account'],
  ['block', ['None', FAILED, 'None'], 'changed'],
  ['blockWithoutKey', ['None', FAILED], 'changed'],
  ['blockWithoutKey', [FAILED, 'None'], 'no-account'],
] as const)('KEY-2 %s: a failed condition in %j is the answer %s', async (method, codes, expected) => {
  dynamodb.rejectWith(cancelled(...codes));
  expect(await transactions[method]?.()).toBe(expected);
});

test('ERR-5 a transaction with a programming error is not an outage', async () => {
  const mistake = cancelled('None', 'ValidationError');
  dynamodb.rejectWith(mistake);
  await expect(transactions.credit?.()).rejects.toBe(mistake);
});

/** The service refuses a transaction that names an item twice. */
test.each(Object.entries(transactions))(
  'KEY-2 %s names no item twice, and each with a condition',
  async (_name, call) => {
    await call();
    const items: readonly TransactWriteItem[] = dynamodb.bodies[0]?.TransactItems ?? [];
    const named = items.map(({ Put, Update, ConditionCheck }) => {
      const one = Put ?? Update ?? ConditionCheck;
      const { pk, sk } = Put?.Item ?? Update?.Key ?? ConditionCheck?.Key ?? {};
      expect(one?.ConditionExpression).toBeDefined();
      return [one?.TableName, pk?.S, sk?.S].join(' ');
    });
    expect(named.length).toBeGreaterThan(1);
    expect(new Set(named).size).toBe(named.length);
  },
);

test('BILL-13 reads are consistent', async () => {
  for (const read of [accounts.chat, accounts.profile, keys.currentKey]) {
    expect(await read('nobody')).toBeUndefined();
  }
  const inputs = dynamodb.bodies.map(({ ConsistentRead }) => ConsistentRead);
  expect(inputs).toEqual([true, true, true]);
});

test('BILL-13 a number is sent as digits, whatever its size', async () => {
  await accounts.setThreshold(id, 123_456_789_012_345_678_901n);
  const [body] = dynamodb.bodies;
  expect(body?.ExpressionAttributeValues?.[':picos']).toEqual({ N: '123456789012345678901' });
});

test('KEY-1 an update is forgotten after a week', async () => {
  await updates.claim('update#1', at);
  await updates.finish('update#1', at + 1_000);
  const kept = dynamodb.bodies.map(
    ({ ExpressionAttributeValues }) => Number(ExpressionAttributeValues?.[':expiresAt']?.N) - at / 1_000,
  );
  expect(kept).toEqual([7 * 86_400, 7 * 86_400 + 1]);
});
