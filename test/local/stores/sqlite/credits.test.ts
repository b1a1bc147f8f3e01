import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDIT_MAX_PICOS } from '../../../../local/stores/sqlite/credits.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerRecords } from '../../../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

let path: string;
let opened: Database[];
beforeEach(() => {
  path = newDatabasePath();
  opened = [];
});
afterEach(() => {
  for (const db of opened) db.close();
});

const open = async () => {
  const db = await openTestDatabase({ path });
  opened.push(db);
  return { db, store: createLedgerStore(db), records: createLedgerRecords(db) };
};
const given = { accountId: 'one', ref: 'first', amountPicos: 100n, reason: 'test', at: 1 };
const refund = {
  ...given,
  ref: 'back',
  type: 'refund',
  amountPicos: 40n,
  of: 'first',
  target: { creditRef: 'first', creditAmountPicos: 100n },
} as const;

test('OPS-11 a credit of a file without the new columns can be refunded', async () => {
  const first = await open();
  await first.store.createAccount('one', 0);
  await first.store.credit(given);
  first.db.close();
  opened = [];
  const old = new DatabaseSync(path);
  for (const column of ['type', 'of_ref', 'returned', 'reversed_by'])
    old.exec(`ALTER TABLE credits DROP COLUMN ${column}`);
  old.close();
  const { store, records } = await open();
  expect(await store.credit(refund)).toEqual({ kind: 'credited' });
  expect(await records.readCredits('one')).toMatchObject([
    { ref: 'back', type: 'refund', amountPicos: 40n },
    { ref: 'first', type: 'credit', amountPicos: 100n, returnedPicos: 40n },
  ]);
});

test('OPS-11 an earlier release adds up the same net amount, and its credits are read', async () => {
  const { db, store, records } = await open();
  await store.createAccount('one', 0);
  await store.credit(given);
  await store.credit(refund);
  await db.write(() =>
    db.sql("INSERT INTO credits (account_id, ref, amount, reason, at) VALUES ('one', 'z', 5, 'r', 1)").run(),
  );
  const sum = await db.peek(() => db.sql('SELECT sum(amount) AS sum FROM credits').get());
  expect(Number(sum?.sum)).toBe(65);
  expect((await records.readCredits('one')).at(-1)).toEqual({
    ref: 'z',
    type: 'credit',
    amountPicos: 5n,
    reason: 'r',
    at: 1,
  });
});

test('OPS-11 a type of a newer release counts by its amount', async () => {
  const { db, store, records } = await open();
  await store.createAccount('one', 0);
  await store.credit(given);
  await store.credit(refund);
  await db.write(() => db.sql("UPDATE credits SET type = 'fee' WHERE ref = 'back'").run());
  expect((await records.readCredits('one'))[0]).toMatchObject({ type: 'debit', amountPicos: 40n });
});

test('BILL-19 a debit below -9,000,000 USD is rejected and writes nothing', async () => {
  const { store, records } = await open();
  await store.createAccount('one', 0);
  const debit = { ...given, type: 'debit', ref: 'd', amountPicos: CREDIT_MAX_PICOS + 1n } as const;
  await expect(store.credit(debit)).rejects.toMatchObject({ status: 400, param: 'amount_usd' });
  expect(await records.readCredits('one')).toEqual([]);
  expect(await store.credit({ ...debit, amountPicos: CREDIT_MAX_PICOS })).toEqual({ kind: 'credited' });
});

test('KEY-3 a refund that takes the balance to the threshold leaves a notification', async () => {
  const { db, store } = await open();
  await store.createAccount('one', 0);
  await db.write(() => db.sql("UPDATE accounts SET chat_id = '7', threshold = 60 WHERE id = 'one'").run());
  await store.credit(given);
  const waiting = () => db.peek(() => db.sql('SELECT before, after FROM low_balances').all());
  expect(await waiting()).toEqual([]);
  await store.credit(refund);
  expect((await waiting()).map((row) => [Number(row.before), Number(row.after)])).toEqual([[100, 60]]);
});
