import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createLedgerRecords } from '../../../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const payment = { accountId: 'one', amountPicos: 100n, reason: 'test' };

/** Brings a database into the state in which an earlier release leaves it: without months. */
const asEarlier = (path: string): void => {
  const old = new DatabaseSync(path);
  old.exec('DROP INDEX credits_by_month; DROP TABLE month_closings; DROP TABLE month_charges;');
  old.exec('ALTER TABLE credits DROP COLUMN month; ALTER TABLE accounts DROP COLUMN month;');
  old.exec('ALTER TABLE accounts DROP COLUMN returned;');
  old.close();
};

test('OPS-11, BILL-22 a database of an earlier release gets months, and its statements start then', async () => {
  const path = newDatabasePath();
  const first = await openTestDatabase({ path });
  await createLedgerStore(first).createAccount('one', NOVEMBER);
  await createLedgerStore(first).credit({ ...payment, ref: 'old', at: NOVEMBER });
  await first.close();
  asEarlier(path);
  const db = await openTestDatabase({ path });
  const [store, records] = [createLedgerStore(db), createLedgerRecords(db)];
  const account = await store.readAccount('one');
  expect([account?.month, account?.returnedPicos]).toEqual([undefined, 0n]);
  await store.credit({ ...payment, ref: 'new', at: DECEMBER });
  const closing = { month: '2026-11', creditedPicos: 100n, returnedPicos: 0n, spentPicos: 0n, heldPicos: 0n };
  expect(await records.closings('one', '9999-12')).toEqual([{ ...closing, startMs: DECEMBER }]);
  expect((await records.readCredits('one')).map(({ ref, month }) => [ref, month])).toEqual([
    ['new', '2026-12'],
    ['old', undefined],
  ]);
  expect(await records.creditsOfMonth('one', '2026-12')).toHaveLength(1);
});

test('BILL-22 a database that has months keeps them when it is opened again', async () => {
  const path = newDatabasePath();
  const first = await openTestDatabase({ path });
  await createLedgerStore(first).createAccount('one', NOVEMBER);
  await createLedgerStore(first).closeMonths('one', DECEMBER);
  const charges = { models: [{ model: 'a', requests: 1, amountPicos: 2n }], beforeHoldId: 'hold-5' };
  await createLedgerRecords(first).keepCharges('one', '2026-11', charges);
  await first.close();
  const records = createLedgerRecords(await openTestDatabase({ path }));
  expect(await records.firstClosing('one')).toMatchObject({ month: '2026-11' });
  expect(await records.readCharges('one', '2026-11')).toEqual(charges);
});

test('OPS-11, BILL-22 stored charges of an earlier release are complete', async () => {
  const path = newDatabasePath();
  const first = await openTestDatabase({ path });
  const charges = { models: [{ model: 'a', requests: 1, amountPicos: 2n }] };
  await createLedgerRecords(first).keepCharges('one', '2026-11', charges);
  await first.close();
  const old = new DatabaseSync(path);
  old.exec('ALTER TABLE month_charges DROP COLUMN before_hold_id');
  old.close();
  const records = createLedgerRecords(await openTestDatabase({ path }));
  expect(await records.readCharges('one', '2026-11')).toEqual(charges);
});

test('BILL-22 more money than an int64 holds can be returned in all', async () => {
  const db = await openTestDatabase();
  const store = createLedgerStore(db);
  await store.createAccount('one', NOVEMBER);
  const amountPicos = 9_000_000n * 10n ** 12n;
  for (const turn of [1, 2]) {
    await store.credit({ ...payment, ref: `pay-${turn}`, amountPicos, at: NOVEMBER });
    await store.credit({ ...payment, ref: `debit-${turn}`, type: 'debit', amountPicos, at: NOVEMBER });
  }
  const account = await store.closeMonths('one', DECEMBER);
  expect([account?.creditedPicos, account?.returnedPicos]).toEqual([0n, 2n * amountPicos]);
  expect(await createLedgerRecords(db).firstClosing('one')).toMatchObject({ returnedPicos: 2n * amountPicos });
});

test('OPS-11 charges of a month that are not an array are named', async () => {
  const db = await openTestDatabase();
  await db.write(() =>
    db.sql("INSERT INTO month_charges (account_id, month, charges) VALUES ('one', '2026-11', '{}')").run(),
  );
  await expect(createLedgerRecords(db).readCharges('one', '2026-11')).rejects.toThrow('charges of a month');
});
