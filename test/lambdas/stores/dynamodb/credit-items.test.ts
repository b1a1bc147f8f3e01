import { expect, test } from 'vitest';
import { toCreditItem, toCreditRecord } from '../../../../lambdas/stores/dynamodb/credit-items.ts';

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
