import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

let db: Database;
beforeEach(async () => {
  db = await openTestDatabase();
});
afterEach(() => db.close());

test('BILL-14 OPS-8 a write with an unknown outcome throws unavailable and is not repeated', async () => {
  let tries = 0;
  const fail = () => {
    tries += 1;
    // SQLite's I/O error: neither a lock nor a full disk.
    throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  await expect(db.writeDurably(fail)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expect(tries).toBe(1);
});

test('BILL-14 OPS-8 writes that share an unknown outcome are unavailable, and none is repeated', async () => {
  let tries = 0;
  const count = (): void => {
    tries += 1;
  };
  const fail = (): void => {
    throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  const ended = await Promise.allSettled([db.write(count), db.write(fail), db.write(count)]);
  const unavailable = { status: 'rejected', reason: { name: 'StoreError', kind: 'unavailable' } };
  expect(ended).toMatchObject([unavailable, unavailable, unavailable]);
  expect(tries).toBe(1);
});

test('BILL-14 OPS-8 no hold is placed while the disk does not confirm writes', async () => {
  const path = newDatabasePath();
  let fails = false;
  const sync = async (): Promise<void> => {
    if (fails) throw new Error('injected');
  };
  const failing = await openTestDatabase({ path, sync });
  const ledger = createLedgerStore(failing);
  await createAccountStore(failing).open(accountNamed('one', { creditPicos: 9n }));
  const hold = (holdId: string) =>
    ledger.hold({ accountId: 'one', holdId, amountPicos: 1n, expiresAtMs: 1, sweepAtMs: 1, previousHoldId: undefined });
  // A reader prevents the checkpoint after a failed sync from completing.
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT * FROM accounts');
  fails = true;
  const record = { accountId: 'one', holdId: 'a', requestId: 'a', outcome: 'settled', amountPicos: 1n, at: 1 } as const;
  await expect(ledger.putRecord(record)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(hold('b')).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  reader.close();
  fails = false;
  expect(await hold('c')).toMatchObject({ kind: 'held' });
  expect([...((await ledger.readAccount('one'))?.holds.keys() ?? [])]).toEqual(['c']);
});

test('BILL-14 a closed database writes nothing', async () => {
  const closed = await openTestDatabase();
  await closed.close();
  await expect(closed.write(() => 1)).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  await expect(closed.durable()).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});

test('OPS-8 SQLite syncs its checkpoints', async () => {
  // With a lower value than NORMAL, SQLite overwrites the WAL before the disk has its pages.
  // https://sqlite.org/pragma.html#pragma_synchronous
  expect(db.sql('PRAGMA synchronous').get()).toEqual({ synchronous: 1n });
});
