import { expect, test } from 'vitest';
import { dailyAllowance } from '../../../../lambdas/core/accounts/daily-allowance.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import type { StoredAllowance } from '../../../../lambdas/core/ledger/allowance.ts';
import { keyNamed } from '../../../contracts/account-subjects.ts';
import { createMoment, type FaultScript, fails, withKeyFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const DAY_MS = 86_400_000;
const SEPTEMBER = Date.UTC(2026, 8, 10);
const OCTOBER = Date.UTC(2026, 9, 10);
const NOVEMBER = Date.UTC(2026, 10, 10);
const LEAST = 10n;

/** An account whose charges come in the order of their times. */
const createScene = async (
  charges: readonly (readonly [picos: bigint, atMs: number])[],
  faults: FaultScript<keyof KeyStore> = {},
) => {
  const clock = new ManualClock(NOVEMBER);
  const ledger = new MemoryLedgerStore();
  await ledger.createAccount('one', charges[0]?.[1] ?? NOVEMBER);
  await ledger.credit({
    accountId: 'one',
    ref: 'first',
    amountPicos: 1_000_000n,
    reason: 'test',
    at: charges[0]?.[1] ?? NOVEMBER,
  });
  for (const [index, [picos, atMs]] of charges.entries()) {
    const hold = {
      accountId: 'one',
      holdId: `request-${index}.0`,
      amountPicos: picos,
      expiresAtMs: atMs,
      sweepAtMs: atMs,
    };
    await ledger.hold({ ...hold, previousHoldId: undefined });
    const record = { ...hold, requestId: `request-${index}`, outcome: 'settled', at: atMs } as const;
    await ledger.apply(record, picos, atMs);
  }
  const memory = new MemoryKeyStore(ledger);
  await memory.putFirstKey('one', keyNamed('first'), NOVEMBER);
  const keys = withKeyFaults(memory, faults);
  const deps = { keys, records: ledger, clock };
  const account = async () => {
    const { spentPicos, month } = (await ledger.readAccount('one'))!;
    return { spentPicos, ...(month !== undefined && { month }) };
  };
  const allowance = (stored?: StoredAllowance) => dailyAllowance(deps, { accountId: 'one', hash: 'first' }, stored);
  const stored = async () => (await memory.read('first'))?.allowance;
  return { clock, keys, allowance, account, stored };
};

test('BILL-21 a charge stores 5 % of the charges of this month and the last', async () => {
  const { allowance, account, stored } = await createScene([
    [9_000n, SEPTEMBER],
    [600n, OCTOBER],
    [400n, NOVEMBER],
  ]);
  await allowance().refresh(await account(), LEAST);
  expect(await stored()).toEqual({ picos: 50n, atMs: NOVEMBER });
  expect(allowance(await stored()).picos).toBe(50n);
});

test('BILL-21 an account without a charge last month has the charges of this month', async () => {
  const { allowance, account, stored } = await createScene([
    [9_000n, SEPTEMBER],
    [400n, NOVEMBER],
  ]);
  await allowance().refresh(await account(), LEAST);
  expect((await stored())?.picos).toBe(20n);
});

test('BILL-21 the allowance is computed at most daily', async () => {
  const { allowance, account } = await createScene([[400n, NOVEMBER]]);
  const aged = (ageMs: number) => allowance({ picos: 1n, atMs: NOVEMBER - ageMs });
  expect(aged(DAY_MS - 1).refresh(await account(), LEAST)).toBeUndefined();
  await expect(aged(DAY_MS).refresh(await account(), LEAST)).resolves.toBeUndefined();
  await expect(aged(-DAY_MS).refresh(await account(), LEAST)).resolves.toBeUndefined();
});

test('BILL-21 an account whose charges cannot raise its allowance costs no call', async () => {
  const { allowance, account, keys } = await createScene([[200n, NOVEMBER]]);
  expect(allowance().refresh(await account(), LEAST)).toBeUndefined();
  const before = { spentPicos: 9_000n, month: '2026-10' };
  expect(allowance().refresh(before, LEAST)).toBeUndefined();
  expect(keys.calls).toEqual([]);
});

test('BILL-21 an allowance of charges that are two months old no longer counts', async () => {
  const { allowance } = await createScene([]);
  expect(allowance({ picos: 5n, atMs: NOVEMBER - 61 * DAY_MS }).picos).toBe(5n);
  expect(allowance({ picos: 5n, atMs: NOVEMBER - 63 * DAY_MS }).picos).toBe(0n);
});

test('BILL-21 a store that fails or hangs does not hold up the charge', async () => {
  const failing = await createScene([[400n, NOVEMBER]], { setAllowance: fails });
  await failing.allowance().refresh(await failing.account(), LEAST);
  const { until, come } = createMoment();
  const hanging = await createScene([[400n, NOVEMBER]], { setAllowance: { kind: 'delayed', until } });
  const refreshed = hanging.allowance().refresh(await hanging.account(), LEAST);
  await hanging.clock.until(refreshed ?? Promise.resolve());
  expect(hanging.clock.now() - NOVEMBER).toBe(500);
  come();
});
