import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { backUp } from '../../local/backup.ts';
import { joinDataFolder, readOrCreateSecret } from '../../local/data-folder.ts';
import { DATABASE_FILE, openEmbeddedStores } from '../../local/embedded-stores.ts';

const PAGE_BYTES = 4_096;

const newerSchema = (path: string): void => {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 2');
  db.close();
};
const garbage = (path: string): void => {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, bytes.length - PAGE_BYTES));
};

test.each([
  ['a newer schema', newerSchema, 'its schema is version 2, and this program knows 1. Use the newer program.'],
  ['garbage in its last page', garbage, 'it is damaged. Restore a backup.'],
  ['other text', (path: string) => writeFileSync(path, 'notes'), 'it is not a database. Restore a backup.'],
])('a backup of a database with %s fails and leaves no copy', async (_name, spoil, reason) => {
  const parent = mkdtempSync(join(tmpdir(), 'backup-'));
  const data = join(parent, 'data');
  const folder = joinDataFolder(data);
  readOrCreateSecret(folder, 'pepper', () => 'secret');
  const stores = await openEmbeddedStores(folder.room('database'), { filesFolder: folder.room('files') });
  await stores.close();
  folder.close();
  const copy = join(parent, 'copy');
  await backUp(data, copy);
  expect(existsSync(join(copy, 'database', DATABASE_FILE))).toBe(true);
  const path = join(data, 'database', DATABASE_FILE);
  spoil(path);
  const other = join(parent, 'other');
  await expect(backUp(data, other)).rejects.toThrow(`${path} cannot be copied: ${reason}`);
  expect(existsSync(other)).toBe(false);
});
