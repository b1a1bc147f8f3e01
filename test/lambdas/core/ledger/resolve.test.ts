import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { release } from '../../../../lambdas/core/ledger/release.ts';
import { apply, commit } from '../../../../lambdas/core/ledger/resolve.ts';
import { conflict, fails, type LedgerFaults, losesReply, throttled } from '../../../support/memory/faults.ts';
import { ID, ledgerScene, settledRecord } from './ledger-scene.ts';

const held = async (faults: LedgerFaults = {}) => {
  const scene = await ledgerScene(1_000n, faults);
  const placedHold = await placeHold(scene.another({}), scene.order());
  return { ...scene, placedHold, settled: settledRecord(placedHold.holdId, 70n, scene.clock.now()) };
};

test('BILL-3 a committed record is applied: the charge is spent and the rest is released', async () => {
  const { deps, settled, account, clock } = await held();
  expect(await commit(deps, settled)).toEqual(settled);
  expect(account()).toMatchObject({ availablePicos: 900n, spentPicos: 0n });
  expect(await clock.until(apply(deps, settled, 100n))).toEqual(account());
  expect(account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
});

test('BILL-13 an existing record takes precedence, and a late writer gets that record', async () => {
  const { deps, settled, account, memory } = await held();
  const expired = { ...settled, outcome: 'released', amountPicos: 0n, reason: 'expired' } as const;
  await commit(deps, expired);
  expect(await commit(deps, settled)).toEqual(expired);
  await apply(deps, await commit(deps, settled), 100n);
  expect(account()).toMatchObject({ availablePicos: 1_000n, spentPicos: 0n });
  expect(memory.recordsOf(ID)).toEqual([expired]);
});

test.each([
  ['no connection', fails],
  ['throttling', throttled],
  ['a conflict', conflict],
  ['a lost reply', losesReply],
])('BILL-13 after %s both writes are repeated and the money moves once', async (_name, fault) => {
  const { deps, settled, account, clock } = await held({
    putRecord: [fault, fault, fault],
    apply: [fault, fault, fault],
  });
  expect(await clock.until(commit(deps, settled))).toEqual(settled);
  await clock.until(apply(deps, settled, 100n));
  expect(account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
});

test('BILL-14 a store that stays down causes a StoreError after four tries', async () => {
  const { deps, settled, clock } = await held({ putRecord: fails, apply: fails });
  const startMs = clock.now();
  await expect(clock.until(commit(deps, settled))).rejects.toBeInstanceOf(StoreError);
  expect(clock.now() - startMs).toBe((50 + 200 + 800) / 2);
  await expect(clock.until(apply(deps, settled, 100n))).rejects.toBeInstanceOf(StoreError);
  expect(deps.store.calls).toEqual([...Array(4).fill('putRecord'), ...Array(4).fill('apply')]);
});

test('BILL-2 a release frees the whole hold and stores the reason', async () => {
  const { deps, placedHold, account, memory } = await held();
  await release(deps, placedHold, { reason: 'upstream_error' });
  expect(account()).toMatchObject({ availablePicos: 1_000n, spentPicos: 0n, holds: new Map() });
  expect(memory.recordsOf(ID)).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason: 'upstream_error' }]);
});

test('BILL-13 a release after a settlement applies the settlement', async () => {
  const { deps, placedHold, settled, account, memory } = await held();
  await commit(deps, settled);
  await release(deps, placedHold, { reason: 'internal_error' });
  expect(account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
  expect(memory.recordsOf(ID)).toEqual([settled]);
});

test('BILL-13 a release leaves the hold to the sweeper while the store is down', async () => {
  const { deps, placedHold, account, clock } = await held({ putRecord: fails });
  await clock.until(release(deps, placedHold, { reason: 'upstream_error' }));
  expect(account().holds.size).toBe(1);
});
