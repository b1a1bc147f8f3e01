import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

let db: Database;
beforeEach(async () => {
  db = await openTestDatabase();
});
afterEach(() => db.close());

test('BILL-14 OPS-8 a write with an unknown outcome is unavailable, and the store does not repeat it', async () => {
  let tries = 0;
  const fail = () => {
    tries += 1;
    // SQLite's I/O error: neither a lock nor a full disk.
    throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  await expect(db.writeDurably(fail)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expect(tries).toBe(1);
});

test('OPS-8 SQLite syncs its checkpoints', async () => {
  // Below NORMAL, it overwrites the WAL before the disk has its pages. https://sqlite.org/pragma.html#pragma_synchronous
  expect(db.sql('PRAGMA synchronous').get()).toEqual({ synchronous: 1n });
});
