import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { CREDIT_MAX_PICOS } from '../../../../local/stores/sqlite/credits.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerRecords } from '../../../../local/stores/sqlite/ledger-records.ts';
import { CHARGES_MAX_PICOS, createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const AT = Date.UTC(2026, 10, 1);

let db: Database;
beforeEach(async () => {
  db = await openTestDatabase();
});
afterEach(() => db.close());

const openOne = async (creditPicos: bigint) => {
  const store = createLedgerStore(db);
  const records = createLedgerRecords(db);
  await createAccountStore(db).open(accountNamed('one', { creditPicos }));
  const stateOf = async () => ({
    account: await store.readAccount('one'),
    credits: await records.readCredits('one'),
    records: await records.listRecords('one', { limit: 10 }),
  });
  return { store, stateOf };
};
const invalid = (message: string) => ({ name: 'GatewayError', status: 400, message });

test.each([1n, 2n ** 63n, 10n ** 30n])(
  'KEY-6 BILL-19 credits %s pico-USD above 9,000,000 USD are rejected and write nothing',
  async (excess) => {
    const { store, stateOf } = await openOne(CREDIT_MAX_PICOS - 2_500_000_000_000n);
    const credit = (ref: string, amountPicos: bigint) =>
      store.credit({ accountId: 'one', ref, amountPicos, reason: 'test', at: AT });
    const before = await stateOf();
    await expect(credit('second', 2_500_000_000_000n + excess)).rejects.toMatchObject(
      invalid('amount_usd: an account can be credited 9000000 USD in all. Credit at most 2.5 USD.'),
    );
    expect(await stateOf()).toEqual(before);
    expect(await credit('second', 2_500_000_000_000n)).toEqual({ kind: 'credited' });
  },
);

test('KEY-1 BILL-19 an account with a first credit above 9,000,000 USD is not opened', async () => {
  await expect(openOne(CREDIT_MAX_PICOS + 1n)).rejects.toMatchObject(
    invalid('amount_usd: an account can be credited 9000000 USD in all. Credit at most 9000000 USD.'),
  );
  expect(await createAccountStore(db).profile('one')).toBeUndefined();
});

test('BILL-19 a charge above int64, alone or with earlier ones, is rejected and writes nothing', async () => {
  const { store, stateOf } = await openOne(100n);
  const refusal = invalid('amount: an account can be charged 9223372.036854775807 USD in all. Use another account.');
  const record = (holdId: string, amountPicos: bigint) => ({
    ...({ accountId: 'one', holdId, requestId: holdId, outcome: 'settled', at: AT } as const),
    amountPicos,
  });
  for (const holdId of ['a', 'b']) {
    const times = { expiresAtMs: AT, sweepAtMs: AT, previousHoldId: undefined };
    await store.hold({ accountId: 'one', holdId, amountPicos: 10n, ...times });
  }
  await store.apply(record('a', CHARGES_MAX_PICOS), 10n, 0);
  const before = await stateOf();
  await expect(store.putRecord(record('b', CHARGES_MAX_PICOS + 1n))).rejects.toMatchObject(refusal);
  await expect(store.putRecord(record('b', 1n))).rejects.toMatchObject(refusal);
  await expect(store.apply(record('b', 1n), 10n, 0)).rejects.toMatchObject(refusal);
  expect(await stateOf()).toEqual(before);
  expect(before.account?.availablePicos).toBe(90n - CHARGES_MAX_PICOS);
  await store.apply(record('b', 0n), 10n, 0);
  expect((await stateOf()).account).toMatchObject({
    availablePicos: 100n - CHARGES_MAX_PICOS,
    spentPicos: CHARGES_MAX_PICOS,
  });
});

test('OPS-9 an almost full disk rejects new holds and accepts charges of open ones', async () => {
  const { store } = await openOne(100n);
  const hold = (holdId: string, ledger = store) => {
    const times = { expiresAtMs: AT, sweepAtMs: AT, previousHoldId: undefined };
    return ledger.hold({ accountId: 'one', holdId, amountPicos: 10n, ...times });
  };
  await hold('a.0');
  const full = new StoreError('conflict', 'almost full');
  const checkRoom = () => {
    throw full;
  };
  const fullStore = createLedgerStore(db, { checkRoom });
  await expect(hold('b.0', fullStore)).rejects.toBe(full);
  expect([...((await store.readAccount('one'))?.holds.keys() ?? [])]).toEqual(['a.0']);
  const record = {
    accountId: 'one',
    holdId: 'a.0',
    requestId: 'a',
    outcome: 'settled',
    amountPicos: 7n,
    at: AT,
  } as const;
  expect(await fullStore.putRecord(record)).toEqual({ kind: 'written' });
  expect(await fullStore.apply(record, 10n, 0)).toMatchObject({ availablePicos: 93n, spentPicos: 7n });
});
