import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { type CreditOrder, creditAccount } from '../../../../lambdas/core/ledger/credit.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { conflict, fails, type LedgerFaults, losesReply, throttled } from '../../../support/memory/faults.ts';
import { ID, type LedgerScene, ledgerScene } from './ledger-scene.ts';

/** The account has one credit with the ref "first". */
const order: CreditOrder = {
  accountId: ID,
  ref: 'back-1',
  type: 'refund',
  amountPicos: 70n,
  of: 'first',
  reason: 'test',
};
const chargeback: CreditOrder = { ...order, ref: 'dispute-1', type: 'chargeback' };
const reversal: CreditOrder = { ...order, ref: 'won-1', type: 'chargeback_reversed' };

const send = async (scene: LedgerScene, changes: Partial<CreditOrder>) =>
  scene.clock
    .until(creditAccount({ ...scene.deps, records: scene.memory }, { ...order, ...changes }))
    .catch((error) => error);

const moneyOf = (scene: LedgerScene) => {
  const { availablePicos, creditedPicos } = scene.account();
  return [availablePicos, creditedPicos];
};

test('KEY-7 a refund returns the balance after it', async () => {
  const scene = await ledgerScene(100n);
  expect(await send(scene, {})).toMatchObject({ kind: 'credited', balancePicos: 30n });
  expect(await send(scene, {})).toMatchObject({ kind: 'repeated', balancePicos: 30n });
});

test.for<readonly [what: string, faults: LedgerFaults, kind: string]>([
  ['conflicts', { credit: [conflict, conflict, conflict] }, 'credited'],
  ['throttling and a failed call', { credit: [throttled, fails] }, 'credited'],
  ['a lost reply', { credit: [losesReply] }, 'repeated'],
])('KEY-7 after %s a refund, a chargeback and a reversal count once', async ([, faults, kind]) => {
  for (const one of [order, chargeback]) {
    const scene = await ledgerScene(100n, faults);
    expect(await send(scene, one)).toMatchObject({ kind, balancePicos: 30n });
    expect(moneyOf(scene)).toEqual([30n, 30n]);
  }
  const scene = await ledgerScene(100n);
  await send(scene, chargeback);
  const again = scene.another(faults);
  const reversed = creditAccount({ ...again, records: scene.memory }, reversal);
  expect(await scene.clock.until(reversed)).toMatchObject({ kind, balancePicos: 100n });
  expect(moneyOf(scene)).toEqual([100n, 100n]);
});

test('KEY-7 an unconfirmed refund throws StoreError, and a repetition counts once', async () => {
  const scene = await ledgerScene(100n, { credit: [losesReply, fails, fails, fails] });
  expect(await send(scene, {})).toBeInstanceOf(StoreError);
  expect(await send(scene, {})).toMatchObject({ kind: 'repeated', balancePicos: 30n });
});

test.for<readonly [what: string, changes: Partial<CreditOrder>, refusal: object]>([
  ['a refund before its credit', { of: 'later' }, { kind: 'unknown-of' }],
  ['a refund of itself', { of: 'back-1' }, { kind: 'unknown-of' }],
  ['an unknown account', { accountId: 'unknown' }, { kind: 'no-account' }],
  ['an amount above the credit', { amountPicos: 101n }, { kind: 'above-credit', leftPicos: 100n }],
  ['the ref of the credit', { ref: 'first' }, { kind: 'other-values', record: { ref: 'first', type: 'credit' } }],
  ['a reversal without a chargeback', { type: 'chargeback_reversed' }, { kind: 'other-chargeback', amountsPicos: [] }],
])('KEY-7 %s is refused, and nothing is changed', async ([, changes, refusal]) => {
  const scene = await ledgerScene(100n);
  const before = [scene.account(), await scene.memory.readCredits(ID)];
  expect(await send(scene, changes)).toMatchObject(refusal);
  expect([scene.account(), await scene.memory.readCredits(ID)]).toEqual(before);
});

test('KEY-7 a refund that arrives before its credit succeeds once the credit is there', async () => {
  const scene = await ledgerScene(100n);
  const early = { ref: 'back-2', of: 'later', amountPicos: 5n };
  expect(await send(scene, early)).toEqual({ kind: 'unknown-of' });
  await scene.memory.credit({ accountId: ID, ref: 'later', amountPicos: 5n, reason: 'test', at: 0 });
  expect(await send(scene, early)).toMatchObject({ kind: 'credited', balancePicos: 100n });
});

test('KEY-7 a refund of a refund is refused', async () => {
  const scene = await ledgerScene(100n);
  await send(scene, {});
  expect(await send(scene, { ref: 'back-2', of: 'back-1', amountPicos: 1n })).toEqual({
    kind: 'wrong-of',
    type: 'refund',
  });
  expect(await send(scene, { ...reversal, of: 'back-1' })).toEqual({ kind: 'wrong-of', type: 'refund' });
  expect(moneyOf(scene)).toEqual([30n, 30n]);
});

test.for(['first', 'dispute-1'])('KEY-7 a chargeback is reversed once, as the reversal of "%s"', async (of) => {
  const scene = await ledgerScene(100n);
  await send(scene, chargeback);
  expect(await send(scene, { ...reversal, of, amountPicos: 69n })).toEqual({
    kind: 'other-chargeback',
    amountsPicos: [70n],
  });
  expect(await send(scene, { ...reversal, of })).toMatchObject({ kind: 'credited', balancePicos: 100n });
  expect(await send(scene, { ...reversal, of })).toMatchObject({ kind: 'repeated', balancePicos: 100n });
  expect(await send(scene, { ...reversal, of, ref: 'won-2' })).toEqual({ kind: 'already-reversed', by: 'won-1' });
  expect(moneyOf(scene)).toEqual([100n, 100n]);
});

test('KEY-7 two equal chargebacks of one credit are reversed one by one', async () => {
  const scene = await ledgerScene(200n);
  await send(scene, chargeback);
  await send(scene, { ...chargeback, ref: 'dispute-2' });
  expect(await send(scene, { ...reversal, of: 'dispute-2' })).toMatchObject({ balancePicos: 130n });
  expect(await send(scene, { ...reversal, ref: 'won-2' })).toMatchObject({ balancePicos: 200n });
  expect(await send(scene, { ...reversal, ref: 'won-3' })).toMatchObject({ kind: 'already-reversed' });
});

test('KEY-7 a credit that a concurrent refund used up is refused with its rest', async () => {
  const scene = await ledgerScene(100n);
  let read = 0;
  const records = {
    readCredits: async (accountId: string) => {
      const found = await scene.memory.readCredits(accountId);
      read += 1;
      if (read === 1) await send(scene, { ref: 'faster', amountPicos: 60n });
      return found;
    },
  };
  expect(await creditAccount({ ...scene.deps, records }, order)).toEqual({ kind: 'above-credit', leftPicos: 40n });
  expect(moneyOf(scene)).toEqual([40n, 40n]);
});

test('KEY-7 a covered debit is refused above the available amount, and a lost reply repeats it', async () => {
  const scene = await ledgerScene(100n, { credit: [undefined, losesReply] });
  const { of: _, ...plain } = order;
  const debit: CreditOrder = { ...plain, ref: 'fix', type: 'debit', isCovered: true };
  const sendDebit = (amountPicos: bigint) =>
    scene.clock.until(creditAccount({ ...scene.deps, records: scene.memory }, { ...debit, amountPicos }));
  expect(await sendDebit(101n)).toEqual({ kind: 'not-covered', availablePicos: 100n });
  expect(moneyOf(scene)).toEqual([100n, 100n]);
  expect(await sendDebit(100n)).toMatchObject({ kind: 'repeated', balancePicos: 0n });
  expect(moneyOf(scene)).toEqual([0n, 0n]);
});

test('AUTH-4 a balance below 0 after a chargeback rejects the next request with 402', async () => {
  const scene = await ledgerScene(100n);
  const placed = await placeHold(scene.deps, scene.order());
  await send(scene, { ...chargeback, amountPicos: 100n });
  expect(scene.account()).toMatchObject({ availablePicos: -100n, creditedPicos: 0n });
  const next = placeHold(scene.deps, scene.order({ requestId: 's', amountPicos: 0n }));
  await expect(next).rejects.toMatchObject({ status: 402, code: 'insufficient_balance' });
  expect(placed.amountPicos).toBe(100n);
});
