import { describe, expect, test } from 'vitest';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { CreditReply, CreditRequest } from '../../lambdas/core/ledger/ledger.ts';
import type { MonthCharges } from '../../lambdas/core/ledger/month.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { AT, HOLD, ledgerScene } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

/** AT is the first ms of November. */
const DECEMBER = Date.UTC(2026, 11, 1);
const MARCH = Date.UTC(2027, 2, 1);
const LAST = '9999-12';

/** Repeats a call that lost a race, as its callers do. */
const repeated = async <T>(call: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind === 'unavailable') throw error;
    }
  }
};

describe.each(ledgerSubjects)('the months of the ledger $name', ({ open }) => {
  const { store, account, order, record, read, money, subject } = ledgerScene(open);
  const closings = (id: string) => subject().records.closings(id, LAST);
  const held = async (amountPicos = 100n) => {
    const id = await account(amountPicos);
    await store.hold(order(id));
    return id;
  };
  const change = (id: string, changes: Partial<CreditRequest> = {}) =>
    store.credit({ accountId: id, ref: 'more', amountPicos: 7n, reason: 'test', at: DECEMBER, ...changes });

  test('BILL-22 a charge in the month of the account writes no closing', async () => {
    const id = await held();
    expect(await store.apply(record(id), 40n, DECEMBER - 1)).toMatchObject({ month: '2026-11', spentPicos: 25n });
    expect(await closings(id)).toEqual([]);
  });

  test('BILL-22 the first charge of a month closes the month before it', async () => {
    const id = await held();
    const after = await store.apply(record(id), 40n, DECEMBER);
    expect(after).toMatchObject({ month: '2026-12', spentPicos: 25n, availablePicos: 75n, holds: new Map() });
    expect(after).toEqual(await read(id));
    const sums = { creditedPicos: 100n, returnedPicos: 0n, spentPicos: 0n };
    expect(await closings(id)).toEqual([{ month: '2026-11', ...sums, heldPicos: 40n }]);
    expect(await subject().records.firstClosing(id)).toMatchObject({ month: '2026-11' });
  });

  test('BILL-22 a release in a later month closes the month before it', async () => {
    const id = await held();
    await store.apply(record(id, { outcome: 'released', amountPicos: 0n }), 40n, DECEMBER);
    expect(await closings(id)).toMatchObject([{ month: '2026-11', heldPicos: 40n }]);
  });

  test('BILL-22 a call of an earlier month belongs to the month of the account', async () => {
    const id = await held();
    await store.closeMonths(id, DECEMBER);
    expect(await store.apply(record(id), 40n, AT)).toMatchObject({ month: '2026-12', spentPicos: 25n });
    expect(await change(id, { at: AT })).toEqual({ kind: 'credited' });
    expect(await closings(id)).toHaveLength(1);
    expect(await subject().records.creditsOfMonth(id, '2026-12')).toMatchObject([{ ref: 'more', at: AT }]);
  });

  test('BILL-22 a repeated call closes no hold and no month again', async () => {
    const id = await held();
    await store.apply(record(id), 40n, DECEMBER);
    expect(await store.apply(record(id), 40n, DECEMBER)).toBeUndefined();
    expect(await store.apply(record(id), 40n, MARCH)).toBeUndefined();
    expect([(await read(id)).month, await money(id)]).toEqual(['2026-12', [75n, 100n, 25n]]);
    expect(await closings(id)).toHaveLength(1);
  });

  test('BILL-22 holds of requests after the end of a month are not part of its closing', async () => {
    const id = await held();
    const later = `${renderRequestId({ atMs: DECEMBER, random: 7 })}.0`;
    await store.hold(order(id, { holdId: later, amountPicos: 9n }));
    await store.apply(record(id), 40n, DECEMBER + 5);
    expect(await closings(id)).toMatchObject([{ month: '2026-11', heldPicos: 40n }]);
  });

  test('BILL-22 a month without writes has the sums of the one before, and its own holds', async () => {
    const id = await held();
    await store.apply(record(id), 40n, AT);
    const february = `${renderRequestId({ atMs: MARCH - 1, random: 7 })}.0`;
    await store.hold(order(id, { holdId: february, amountPicos: 9n }));
    await store.closeMonths(id, MARCH);
    const sums = { creditedPicos: 100n, returnedPicos: 0n, spentPicos: 25n };
    expect(await closings(id)).toEqual([
      { month: '2027-02', ...sums, heldPicos: 9n },
      { month: '2026-11', ...sums, heldPicos: 0n },
    ]);
    expect(await subject().records.closings(id, '2027-01', 2)).toMatchObject([{ month: '2026-11' }]);
    expect(await subject().records.closings(id, LAST, 1)).toMatchObject([{ month: '2027-02' }]);
    expect(await subject().records.closings(id, '2026-10', 2)).toEqual([]);
  });

  test('BILL-22 closing the months of an account moves no money, and a repeat writes nothing', async () => {
    const id = await held();
    const before = await read(id);
    const after = await store.closeMonths(id, DECEMBER);
    expect(after).toEqual({ ...before, month: '2026-12', version: before.version + 1 });
    expect(await store.closeMonths(id, DECEMBER + 1)).toEqual(after);
    expect(await store.closeMonths(id, AT)).toEqual(after);
    expect(await store.closeMonths('unknown', DECEMBER)).toBeUndefined();
    expect(await closings(id)).toHaveLength(1);
  });

  test('BILL-22 the first credit of a month closes the month before it', async () => {
    const id = await account(100n);
    expect(await change(id)).toEqual({ kind: 'credited' });
    expect(await change(id)).toEqual({ kind: 'repeated' });
    expect(await read(id)).toMatchObject({ month: '2026-12', creditedPicos: 107n, availablePicos: 107n });
    expect(await closings(id)).toMatchObject([{ month: '2026-11', creditedPicos: 100n }]);
    expect(await subject().records.creditsOfMonth(id, '2026-11')).toMatchObject([{ ref: 'first', month: '2026-11' }]);
    expect(await subject().records.creditsOfMonth(id, '2026-12')).toMatchObject([{ ref: 'more', month: '2026-12' }]);
  });

  test('BILL-22 returns are summed apart, and a reversal subtracts from them', async () => {
    const id = await account(100n);
    const target = { creditRef: 'first', creditAmountPicos: 100n };
    await change(id, { ref: 'back', type: 'refund', amountPicos: 10n, of: 'first', target, at: AT });
    await change(id, { ref: 'dispute', type: 'chargeback', amountPicos: 20n, of: 'first', target });
    await change(id, { ref: 'fix', type: 'debit', amountPicos: 3n });
    const reversed = { ...target, chargebackRef: 'dispute' };
    const reversal = { ref: 'won', type: 'chargeback_reversed', amountPicos: 20n, of: 'dispute' } as const;
    await change(id, { ...reversal, target: reversed });
    expect(await read(id)).toMatchObject({ creditedPicos: 87n, returnedPicos: 13n, availablePicos: 87n });
    expect(await closings(id)).toMatchObject([{ month: '2026-11', creditedPicos: 90n, returnedPicos: 10n }]);
    const listed = await subject().records.creditsOfMonth(id, '2026-12');
    expect(listed.map(({ ref, type }) => `${ref} ${type}`).toSorted()).toEqual([
      'dispute chargeback',
      'fix debit',
      'won chargeback_reversed',
    ]);
    expect(listed.map(({ reversedBy }) => reversedBy)).toEqual([undefined, undefined, undefined]);
  });

  test('BILL-22 a change that is refused in a new month closes no month', async () => {
    const id = await account(100n);
    const target = { creditRef: 'first', creditAmountPicos: 100n };
    const back = { ref: 'back', type: 'refund', amountPicos: 101n, of: 'first', target } as const;
    expect(await change(id, back)).toEqual({ kind: 'not-returnable' });
    const debit = { ref: 'fix', type: 'debit', amountPicos: 101n, isCovered: true } as const;
    expect(await change(id, debit)).toEqual({ kind: 'not-covered', availablePicos: 100n });
    expect(await change(id, { ref: 'first' })).toMatchObject({ kind: 'other-values' });
    expect([(await read(id)).month, await closings(id)]).toEqual(['2026-11', []]);
  });

  test('BILL-22 writes of two processes at the end of a month close it once, with exact sums', async () => {
    const id = await account(1_000n);
    const holds = Array.from({ length: 6 }, (_, index) => `r${index}.0`);
    for (const holdId of holds) await store.hold(order(id, { holdId }));
    const direct = subject().store;
    const charge = (holdId: string, index: number) =>
      repeated(() => direct.apply(record(id, { holdId }), 40n, index % 2 === 0 ? DECEMBER - 1 : DECEMBER));
    const credit = (index: number): Promise<CreditReply> =>
      repeated(() => direct.credit({ accountId: id, ref: `c${index}`, amountPicos: 1n, reason: 'test', at: DECEMBER }));
    await Promise.all([...holds.map(charge), credit(0), credit(1), repeated(() => direct.closeMonths(id, DECEMBER))]);
    const after = await read(id);
    expect([await money(id), after.holds.size, after.month]).toEqual([[852n, 1_002n, 150n], 0, '2026-12']);
    const [closing, ...others] = await closings(id);
    expect(others).toEqual([]);
    const months = await Promise.all(
      ['2026-11', '2026-12'].map((month) => subject().records.creditsOfMonth(id, month)),
    );
    expect(
      months
        .flat()
        .map(({ ref }) => ref)
        .toSorted(),
    ).toEqual(['c0', 'c1', 'first']);
    const sums = months.map((month) => month.reduce((sum, { amountPicos }) => sum + amountPicos, 0n));
    expect(closing).toMatchObject({ month: '2026-11', creditedPicos: sums[0] });
    expect((closing?.spentPicos ?? 1n) % 25n).toBe(0n);
  });

  test('BILL-22 statements of an account of an earlier release start with its first write', async () => {
    const id = await held();
    await subject().forgetMonth(id);
    expect((await read(id)).month).toBeUndefined();
    expect(await store.apply(record(id), 40n, DECEMBER + 5)).toMatchObject({ month: '2026-12', spentPicos: 25n });
    const sums = { creditedPicos: 100n, returnedPicos: 0n, spentPicos: 0n };
    expect(await closings(id)).toEqual([{ month: '2026-11', ...sums, heldPicos: 40n, startMs: DECEMBER + 5 }]);
    const other = await account(100n);
    await subject().forgetMonth(other);
    const debit = { ref: 'fix', type: 'debit', amountPicos: 3n, isCovered: true } as const;
    expect(await change(other, debit)).toEqual({ kind: 'credited' });
    expect(await read(other)).toMatchObject({ returnedPicos: 3n, month: '2026-12' });
    expect(await closings(other)).toMatchObject([{ month: '2026-11', returnedPicos: 0n, startMs: DECEMBER }]);
  });

  test('BILL-22 the charges of a month are stored once', async () => {
    const id = await account(0n);
    const { records } = subject();
    expect(await records.readCharges(id, '2026-11')).toBeUndefined();
    const models = [
      { model: undefined, requests: 1, amountPicos: 0n },
      { model: 'alpha-1', requests: 2, amountPicos: 2n ** 60n + 1n },
    ];
    const charges = { models };
    expect(await records.keepCharges(id, '2026-11', charges)).toEqual(charges);
    expect(await records.keepCharges(id, '2026-11', { models: [] })).toEqual(charges);
    expect(await records.keepCharges(id, '2026-11', { models: [] }, 'hold-5')).toEqual(charges);
    expect(await records.readCharges(id, '2026-11')).toEqual(charges);
    expect(await records.readCharges(id, '2026-12')).toBeUndefined();
    expect(await closings(id)).toEqual([]);
  });

  test('BILL-22 charges of a month are stored in parts, and each part only once', async () => {
    const id = await account(0n);
    const { records } = subject();
    const part = (requests: number, beforeHoldId?: string): MonthCharges => ({
      models: [{ model: 'alpha-1', requests, amountPicos: BigInt(requests) }],
      ...(beforeHoldId !== undefined && { beforeHoldId }),
    });
    const keep = (charges: MonthCharges, seenHoldId?: string) =>
      records.keepCharges(id, '2026-11', charges, seenHoldId);
    const first = await Promise.all([keep(part(1, 'hold-7')), keep(part(2, 'hold-6'))]);
    expect(first[0]).toEqual(first[1]);
    const place = first[0].beforeHoldId ?? '';
    expect(await keep(part(3, 'hold-5'))).toEqual(first[0]);
    expect(await keep(part(4, 'hold-4'), place)).toEqual(part(4, 'hold-4'));
    expect(await keep(part(5, 'hold-3'), place), 'another read was faster').toEqual(part(4, 'hold-4'));
    expect(await keep(part(6), 'hold-4')).toEqual(part(6));
    expect(await keep(part(7), 'hold-4'), 'complete charges never change').toEqual(part(6));
    expect(await records.readCharges(id, '2026-11')).toEqual(part(6));
  });

  test('BILL-22 the hold of another amount or account closes no month', async () => {
    const id = await held();
    expect(await store.apply(record(id), 41n, DECEMBER)).toBeUndefined();
    expect(await store.apply(record('unknown'), 40n, DECEMBER)).toBeUndefined();
    expect([(await read(id)).month, (await read(id)).holds.has(HOLD)]).toEqual(['2026-11', true]);
  });
});
