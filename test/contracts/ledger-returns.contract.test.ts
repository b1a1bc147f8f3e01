import { describe, expect, test } from 'vitest';
import { changeOf } from '../../lambdas/core/ledger/credit-record.ts';
import type { CreditRequest, CreditTarget } from '../../lambdas/core/ledger/ledger.ts';
import { AT, ledgerScene } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

describe.each(ledgerSubjects)('returned credit $name', ({ open }) => {
  const { store, account, order, record, read, money, subject } = ledgerScene(open);

  /** The credit of `account` that every request changes. */
  const first: CreditTarget = { creditRef: 'first', creditAmountPicos: 100n };
  const changed = (accountId: string, changes: Partial<CreditRequest>): CreditRequest => ({
    accountId,
    ref: 'back',
    type: 'refund',
    amountPicos: 30n,
    of: 'first',
    target: first,
    reason: 'test',
    at: AT,
    ...changes,
  });
  const send = (accountId: string, changes: Partial<CreditRequest> = {}) => store.credit(changed(accountId, changes));
  const chargeback = (accountId: string, amountPicos = 30n, ref = 'dispute') =>
    send(accountId, { type: 'chargeback', ref, amountPicos });
  const reversal = (accountId: string, changes: Partial<CreditRequest> = {}) =>
    send(accountId, {
      type: 'chargeback_reversed',
      ref: 'won',
      target: { ...first, chargebackRef: 'dispute' },
      ...changes,
    });
  const recordsOf = async (accountId: string) =>
    Object.fromEntries((await subject().records.readCredits(accountId)).map((one) => [one.ref, one]));

  test.for(['refund', 'chargeback'] as const)('KEY-7 a %s takes the money back from its credit', async (type) => {
    const id = await account(100n);
    expect(await send(id, { type })).toEqual({ kind: 'credited' });
    expect(await money(id)).toEqual([70n, 70n, 0n]);
    const month = '2026-11';
    expect(await recordsOf(id)).toEqual({
      first: { ref: 'first', type: 'credit', amountPicos: 100n, reason: 'test', at: AT, month, returnedPicos: 30n },
      back: { ref: 'back', type, amountPicos: 30n, of: 'first', reason: 'test', at: AT, month },
    });
  });

  test('KEY-7 a repeated refund counts once, and other values under its ref change nothing', async () => {
    const id = await account(100n);
    await send(id);
    expect(await send(id)).toEqual({ kind: 'repeated' });
    expect(await send(id, { at: AT + 1, reason: 'later' })).toEqual({ kind: 'repeated' });
    const known = { kind: 'other-values', record: { ref: 'back', type: 'refund', amountPicos: 30n, of: 'first' } };
    const { of: _, target: __, ...alone } = changed(id, {});
    expect(await store.credit({ ...alone, type: 'credit' })).toMatchObject(known);
    expect(await store.credit({ ...alone, type: 'debit' })).toMatchObject(known);
    expect(await send(id, { type: 'chargeback' })).toMatchObject(known);
    expect(await send(id, { amountPicos: 29n })).toMatchObject(known);
    expect(await send(id, { of: 'second' })).toMatchObject(known);
    expect(await money(id)).toEqual([70n, 70n, 0n]);
    expect((await recordsOf(id)).first?.returnedPicos).toBe(30n);
  });

  test('KEY-7 refunds and chargebacks together stay within their credit', async () => {
    const id = await account(100n);
    expect(await send(id, { amountPicos: 101n })).toEqual({ kind: 'not-returnable' });
    expect(await send(id, { amountPicos: 60n })).toEqual({ kind: 'credited' });
    expect(await chargeback(id, 41n)).toEqual({ kind: 'not-returnable' });
    expect(await chargeback(id, 40n)).toEqual({ kind: 'credited' });
    expect(await send(id, { ref: 'more', amountPicos: 1n })).toEqual({ kind: 'not-returnable' });
    expect(await money(id)).toEqual([0n, 0n, 0n]);
    expect(Object.keys(await recordsOf(id)).toSorted()).toEqual(['back', 'dispute', 'first']);
  });

  test('KEY-7 concurrent refunds of one credit never return more than it', async () => {
    const id = await account(100n);
    const send = (_: unknown, index: number) => subject().store.credit(changed(id, { ref: `r${index}` }));
    const settled = await Promise.allSettled(Array.from({ length: 8 }, send));
    const done = settled.filter((one) => one.status === 'fulfilled' && one.value.kind === 'credited').length;
    expect(done).toBeLessThanOrEqual(3);
    const kept = 100n - BigInt(done) * 30n;
    expect(await money(id)).toEqual([kept, kept, 0n]);
    expect((await recordsOf(id)).first?.returnedPicos ?? 0n).toBe(BigInt(done) * 30n);
  });

  test('KEY-7 a target with another amount or without a record changes nothing', async () => {
    const id = await account(100n);
    expect(await send(id, { target: { ...first, creditAmountPicos: 99n } })).toEqual({ kind: 'not-returnable' });
    expect(await send(id, { target: { ...first, creditRef: 'none' } })).toEqual({ kind: 'not-returnable' });
    expect(await money(id)).toEqual([100n, 100n, 0n]);
    expect(Object.keys(await recordsOf(id))).toEqual(['first']);
  });

  test('KEY-7 a chargeback is reversed once, with its whole amount', async () => {
    const id = await account(100n);
    await chargeback(id, 100n);
    expect(await reversal(id, { amountPicos: 99n })).toEqual({ kind: 'not-returnable' });
    expect(await reversal(id, { amountPicos: 100n })).toEqual({ kind: 'credited' });
    expect(await reversal(id, { amountPicos: 100n })).toEqual({ kind: 'repeated' });
    expect(await reversal(id, { amountPicos: 100n, ref: 'won-again' })).toEqual({ kind: 'not-returnable' });
    expect(await money(id)).toEqual([100n, 100n, 0n]);
    const { first: credit, dispute } = await recordsOf(id);
    expect([credit?.returnedPicos, dispute?.reversedBy]).toEqual([0n, 'won']);
    // The credit can be returned again.
    expect(await send(id, { amountPicos: 100n })).toEqual({ kind: 'credited' });
    expect(await money(id)).toEqual([0n, 0n, 0n]);
  });

  test('KEY-7 a refund cannot be reversed', async () => {
    const id = await account(100n);
    await send(id);
    const target = { ...first, chargebackRef: 'back' };
    expect(await reversal(id, { target })).toEqual({ kind: 'not-returnable' });
    expect(await money(id)).toEqual([70n, 70n, 0n]);
  });

  test('KEY-7 a debit needs no credit, and the balance can fall below 0', async () => {
    const id = await account(100n);
    const debit = { accountId: id, ref: 'wrong', type: 'debit', amountPicos: 130n, reason: 'test', at: AT } as const;
    expect(await store.credit(debit)).toEqual({ kind: 'credited' });
    expect(await store.credit(debit)).toEqual({ kind: 'repeated' });
    expect(await money(id)).toEqual([-30n, -30n, 0n]);
    expect(await store.credit({ ...debit, accountId: 'unknown' })).toEqual({ kind: 'no-account' });
    expect(await store.readAccount('unknown')).toBeUndefined();
  });

  const covered = (accountId: string, ref: string, amountPicos: bigint): CreditRequest => ({
    accountId,
    ref,
    type: 'debit',
    amountPicos,
    reason: 'test',
    at: AT,
    isCovered: true,
  });

  test('KEY-7 a covered debit above the available amount changes nothing', async () => {
    const id = await account(100n);
    await store.hold(order(id));
    expect(await store.credit(covered(id, 'a', 61n))).toEqual({ kind: 'not-covered', availablePicos: 60n });
    expect(await store.credit(covered('unknown', 'a', 61n))).toEqual({ kind: 'no-account' });
    expect(Object.keys(await recordsOf(id))).toEqual(['first']);
    expect(await store.credit(covered(id, 'a', 60n))).toEqual({ kind: 'credited' });
    expect(await store.credit(covered(id, 'a', 60n))).toEqual({ kind: 'repeated' });
    expect(await money(id)).toEqual([0n, 40n, 0n]);
  });

  test('KEY-7 concurrent covered debits never take more than is available', async () => {
    const id = await account(100n);
    const send = (_: unknown, index: number) => subject().store.credit(covered(id, `d${index}`, 30n));
    const settled = await Promise.allSettled(Array.from({ length: 8 }, send));
    const done = settled.filter((one) => one.status === 'fulfilled' && one.value.kind === 'credited').length;
    expect(done).toBeLessThanOrEqual(3);
    const kept = 100n - BigInt(done) * 30n;
    expect(await money(id)).toEqual([kept, kept, 0n]);
  });

  test('AUTH-4 after a chargeback below 0 no hold is placed, not even of 0', async () => {
    const id = await account(100n);
    await store.hold(order(id));
    await store.apply(record(id, { amountPicos: 25n }), 40n, 0);
    await chargeback(id, 100n);
    expect(await money(id)).toEqual([-25n, 0n, 25n]);
    for (const amountPicos of [0n, 1n]) {
      expect((await store.hold(order(id, { holdId: 'next.0', amountPicos }))).kind).toBe('refused');
    }
    await reversal(id, { amountPicos: 100n });
    expect((await store.hold(order(id, { holdId: 'next.1' }))).kind).toBe('held');
  });

  test('BILL-13 a chargeback during a hold leaves the hold and its charge exact', async () => {
    const id = await account(100n);
    await store.hold(order(id));
    await chargeback(id, 100n);
    expect(await money(id)).toEqual([-40n, 0n, 0n]);
    expect(await store.apply(record(id), 40n, 0)).toEqual(await read(id));
    expect(await money(id)).toEqual([-25n, 0n, 25n]);
  });

  test('OPS-5 the net amounts of all records add up to the credited amount', async () => {
    const id = await account(100n);
    await send(id);
    await chargeback(id, 20n);
    await reversal(id, { amountPicos: 20n });
    await store.credit({ accountId: id, ref: 'fix', type: 'debit', amountPicos: 7n, reason: 'test', at: AT });
    const records = await subject().records.readCredits(id);
    expect(records.reduce((sum, one) => sum + changeOf(one), 0n)).toBe((await read(id)).creditedPicos);
  });
});
