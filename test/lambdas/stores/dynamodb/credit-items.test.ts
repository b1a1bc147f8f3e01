import { expect, test } from 'vitest';
import { credit, toCreditItem, toCreditRecord } from '../../../../lambdas/stores/dynamodb/credit-items.ts';
import type { DynamoDB, Write } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';

const request = { accountId: 'one', ref: 'r', amountPicos: 5n, reason: 'test', at: 7 };
/** Numbers as the table returns them. */
const stored = { ...toCreditItem(request, '1970-01'), at: 7n };

test('OPS-11 a payment is stored as earlier releases store it', () => {
  expect(toCreditItem(request, '1970-01')).toEqual({
    pk: 'account#one',
    sk: 'CREDIT#r',
    accountId: 'one',
    ref: 'r',
    amount: 5n,
    reason: 'test',
    at: 7,
    month: '1970-01',
  });
  expect(toCreditRecord(stored)).toEqual({
    ref: 'r',
    type: 'credit',
    amountPicos: 5n,
    reason: 'test',
    at: 7,
    month: '1970-01',
  });
});

test.for([
  ['credit', 5n],
  ['chargeback_reversed', 5n],
  ['refund', -5n],
  ['chargeback', -5n],
  ['debit', -5n],
] as const)('OPS-11 a %s is stored with the amount that earlier releases add up', ([type, amount]) => {
  const item = toCreditItem({ ...request, type }, '1970-01');
  expect(item.amount).toBe(amount);
  expect(toCreditRecord({ ...item, at: 7n })).toMatchObject({ type, amountPicos: 5n });
});

test.for([
  [5n, 'credit'],
  [-5n, 'debit'],
] as const)('OPS-11 a type of a newer release with the amount %s counts as a %s', ([amount, type]) => {
  expect(toCreditRecord({ ...stored, type: 'fee', amount })).toMatchObject({ type, amountPicos: 5n });
});

/** Credits an account in `month`, and returns the writes of both transactions. */
const transactionsIn = async (month: string) => {
  const sent: (readonly Write[])[] = [];
  const item = {
    ...{ pk: 'account#one', status: 'active', month, holds: {}, version: 4n },
    ...{ available: 9n, credited: 9n, returned: 0n, spent: 0n },
  };
  const unchanged = { isConditionFailed: false, item: undefined };
  const transact: DynamoDB['transact'] = async (writes) => {
    sent.push(writes);
    return sent.length === 1 ? [unchanged, { isConditionFailed: true, item }, unchanged] : undefined;
  };
  expect(await credit({ transact } as DynamoDB, 'accounts', { ...request, at: Date.UTC(2026, 10, 30) })).toEqual({
    kind: 'credited',
  });
  return sent.map((writes) => writes.flatMap((write) => ('update' in write ? [write.update.condition] : [])));
};

test('BILL-22 a credit by a late clock does not require that no other write changes the account', async () => {
  expect(await transactionsIn('2026-12')).toEqual([['#month = :month'], ['#month = :month']]);
});

test('BILL-22 a credit that closes a month requires the version from which it is computed', async () => {
  expect(await transactionsIn('2026-10')).toEqual([['#month = :month'], ['version = :before']]);
});
