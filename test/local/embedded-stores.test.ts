import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { DATABASE_FILE, openEmbeddedStores } from '../../local/embedded-stores.ts';

const PAGE_BYTES = 4_096;

test('GEN-10 a database that cannot be written is reported as a problem of the gateway', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  const stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  const writes = () => stores.db.sql('SELECT count(*) AS rows, max(value) AS last FROM facts').get();
  expect(await stores.problems()).toEqual([]);
  const before = writes();
  expect(await stores.problems()).toEqual([]);
  expect(writes(), 'a check writes one row, with a new value').toEqual({ rows: before?.rows, last: expect.anything() });
  expect(writes()?.last).not.toBe(before?.last);
  stores.db.sql('PRAGMA wal_checkpoint(TRUNCATE)').get();
  const path = join(folder, 'database', DATABASE_FILE);
  // A commit of another connection makes this one read its pages again.
  const other = new DatabaseSync(path);
  other.exec("INSERT INTO chats (id, account_id) VALUES ('chat', 'acme')");
  other.close();
  writeFileSync(path, readFileSync(path).fill(0xa5, PAGE_BYTES), { flag: 'r+' });
  expect(await stores.problems()).toEqual(['database']);
  await stores.close();
});
