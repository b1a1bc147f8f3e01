import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { type CreditOrder, creditAccount } from '../../../../lambdas/core/ledger/credit.ts';
import { conflict, fails, type LedgerFaults, losesReply, throttled } from '../../../support/memory/faults.ts';
import { ID, ledgerScene } from './ledger-scene.ts';

const order = { accountId: ID, ref: 'payment-1', type: 'credit', amountPicos: 70n, reason: 'top-up' } as const;

const credit = async (faults: LedgerFaults, changes: Partial<CreditOrder> = {}) => {
  const scene = await ledgerScene(30n, faults);
  const reply = await scene.clock
    .until(creditAccount({ ...scene.deps, records: scene.memory }, { ...order, ...changes }))
    .catch((error) => error);
  return { scene, reply };
};

test('KEY-6 a credit returns the balance after it', async () => {
  const { scene, reply } = await credit({});
  expect(reply).toMatchObject({ kind: 'credited', balancePicos: 100n, account: { id: ID, creditedPicos: 100n } });
  expect(await creditAccount({ ...scene.deps, records: scene.memory }, order)).toMatchObject({
    kind: 'repeated',
    balancePicos: 100n,
  });
});

test.for<readonly [what: string, faults: LedgerFaults, kind: string]>([
  ['conflicts', { credit: [conflict, conflict, conflict] }, 'credited'],
  ['throttling and a failed call', { credit: [throttled, fails] }, 'credited'],
  ['a lost reply', { credit: [losesReply] }, 'repeated'],
  ['two failed reads of the balance', { readAccount: [fails, fails] }, 'credited'],
])('KEY-6 after %s the account is credited once', async ([, faults, kind]) => {
  const { scene, reply } = await credit(faults);
  expect(reply).toMatchObject({ kind, balancePicos: 100n });
  expect(scene.account().creditedPicos).toBe(100n);
});

test('KEY-6 an unconfirmed credit throws StoreError, and a repetition credits once', async () => {
  const { scene, reply } = await credit({ credit: [losesReply, fails, fails, fails] });
  expect(reply).toBeInstanceOf(StoreError);
  expect(await creditAccount({ ...scene.deps, records: scene.memory }, order)).toMatchObject({
    kind: 'repeated',
    balancePicos: 100n,
  });
});

test('KEY-6 a repetition with another amount, or for an unknown account, credits nothing', async () => {
  const { scene, reply } = await credit({}, { ref: 'first', amountPicos: 31n });
  expect(reply).toMatchObject({ kind: 'other-values', record: { type: 'credit', amountPicos: 30n } });
  expect(scene.account().creditedPicos).toBe(30n);
  expect((await credit({}, { accountId: 'unknown' })).reply).toEqual({ kind: 'no-account' });
});
