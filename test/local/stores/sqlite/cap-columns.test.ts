import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { toCap } from '../../../../lambdas/core/ledger/caps.ts';
import { readCaps, toCapsColumn } from '../../../../local/stores/sqlite/cap-columns.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { replaceCaps } from '../../../../local/stores/sqlite/replace-account.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const AT = Date.UTC(2026, 10, 1);
const KEY = '0123456789abcdef';
const PERIOD = '2:2026-11-01';
const times = { expiresAtMs: AT + 900_000, sweepAtMs: AT, previousHoldId: undefined };
const record = { accountId: 'one', requestId: 'a', outcome: 'settled', amountPicos: 15n, at: AT } as const;

/** A database whose account has a cap of 70 pico-USD, and a hold of 40 in it. */
const withHold = async (path = newDatabasePath()) => {
  const db = await openTestDatabase({ path });
  const store = createLedgerStore(db);
  await store.createAccount('one', AT);
  await store.credit({ accountId: 'one', ref: 'first', amountPicos: 100n, reason: 'test', at: AT });
  const account = (await store.readAccount('one'))!;
  await db.write(() => replaceCaps(db, { ...account, caps: new Map([[KEY, toCap(70n, 70n, PERIOD)]]) }));
  const cap = { keyId: KEY, period: PERIOD };
  expect((await store.hold({ accountId: 'one', holdId: 'a.0', amountPicos: 40n, ...times, cap })).kind).toBe('held');
  return { db, store, path };
};

test('KEY-9 caps are stored as JSON, and no caps as null', () => {
  expect([toCapsColumn(new Map()), readCaps({ caps: null })]).toEqual([null, new Map()]);
  const caps = new Map([
    ['k', toCap(2n ** 70n, -(2n ** 70n), '3:total')],
    ['l', toCap(1n, 0n, PERIOD, new Map([['2026-10-31', -3n]]))],
  ]);
  expect(readCaps({ caps: toCapsColumn(caps) })).toEqual(caps);
});

test('OPS-11 a cap of a newer release has nothing left, and other JSON is named', () => {
  const newer = { limitPicos: 0n, leftPicos: -1n, kind: 'total' };
  const stored = { a: { limit: '7', left: '7', period: '2:2026-W48' }, b: { limit: '7', left: 'much' }, c: 1 };
  expect([...readCaps({ caps: JSON.stringify(stored) }).values()]).toMatchObject([newer, newer, newer]);
  expect(() => readCaps({ caps: '[]' })).toThrow('the caps of an account are not a JSON object');
});

test('OPS-11 an earlier release finds no hold with a cap to close, and counts its amount', async () => {
  const { db, path } = await withHold();
  await db.close();
  const old = new DatabaseSync(path, { readOnly: true });
  const rows = old.prepare('SELECT hold_id, amount, expires_at FROM holds').all();
  expect(rows.map((row) => ({ ...row }))).toEqual([{ hold_id: 'a.0#cap', amount: 40, expires_at: 8.64e15 }]);
  old.close();
});

test('OPS-11 a hold with a period of a newer release stays open', async () => {
  const { db, store } = await withHold();
  await db.write(() => db.sql("UPDATE holds SET cap_period = '2:2026-W48'").run());
  const holds = (await store.readAccount('one'))?.holds;
  expect(holds).toEqual(new Map([['a.0#cap', { amountPicos: 40n, expiresAtMs: 8.64e15, isNewer: true }]]));
  expect(await store.apply({ ...record, holdId: 'a.0' }, 40n, AT)).toBeUndefined();
});

test('OPS-11, KEY-9 a database of an earlier release gets caps', async () => {
  const path = newDatabasePath();
  const first = await openTestDatabase({ path });
  await createLedgerStore(first).createAccount('old', AT);
  await first.close();
  const old = new DatabaseSync(path);
  old.exec('ALTER TABLE accounts DROP COLUMN caps');
  for (const name of ['cap_key', 'cap_period', 'cap_expires_at']) old.exec(`ALTER TABLE holds DROP COLUMN ${name}`);
  old.exec("INSERT INTO holds (account_id, hold_id, amount, expires_at) VALUES ('old', 'b.0', 0, 5)");
  old.close();
  const { store } = await withHold(path);
  expect(await store.readAccount('old')).toMatchObject({
    caps: new Map(),
    holds: new Map([['b.0', { amountPicos: 0n, expiresAtMs: 5 }]]),
  });
  const after = await store.apply({ ...record, holdId: 'a.0' }, 40n, AT);
  expect([after?.caps.get(KEY)?.leftPicos, after?.holds.size]).toEqual([55n, 0]);
});
