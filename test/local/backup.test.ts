import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backUp } from '../../local/backup.ts';
import { type DataFolder, joinDataFolder, readOrCreateSecret } from '../../local/data-folder.ts';
import { type EmbeddedStores, openEmbeddedStores } from '../../local/embedded-stores.ts';
import { accountNamed } from '../contracts/account-subjects.ts';

const record = { accountId: 'one', requestId: 'r', outcome: 'settled', amountPicos: 1n, at: 0 } as const;

let parent: string;
let folder: DataFolder;
let stores: EmbeddedStores;

const open = (data: DataFolder) => openEmbeddedStores(data.room('database'), { filesFolder: data.room('files') });

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'backup-'));
  folder = joinDataFolder(join(parent, 'data'));
  readOrCreateSecret(folder, 'pepper', () => 'secret');
  stores = await open(folder);
});
afterEach(async () => {
  await stores.close();
  folder.close();
});

test('OPS-10 a copy of a folder in use has its database, files and secrets, and is a data folder', async () => {
  await stores.deps.accounts.open(accountNamed('one', { creditPicos: 7n }));
  await stores.deps.ledgerStore.putRecord({ ...record, holdId: 'r.0' });
  await stores.deps.outbox.put({ record: { ...record, holdId: 'r.1' }, holdAmountPicos: 1n });
  writeFileSync(join(folder.room('files'), 'outbox', '.draft'), 'half');

  const target = join(parent, 'copy');
  await backUp(folder.path, target);

  expect(readdirSync(target).sort()).toEqual(['.model-gateway', 'database', 'files', 'secrets']);
  expect(readFileSync(join(target, 'secrets/pepper'), 'utf8')).toBe('secret');
  if (process.platform !== 'win32') expect(statSync(target).mode & 0o777).toBe(0o700);
  const copy = joinDataFolder(target);
  const { deps, close } = await open(copy);
  expect((await deps.ledgerStore.readAccount('one'))?.creditedPicos).toBe(7n);
  expect(await deps.ledgerStore.readRecord('one', 'r.0')).toMatchObject({ amountPicos: 1n });
  expect(await deps.outbox.list()).toEqual(['r.1']);
  await close();
  copy.close();
});

test('OPS-10 an existing target or a folder without a database is rejected and left unchanged', async () => {
  const target = mkdtempSync(join(parent, 'target-'));
  await expect(backUp(folder.path, target)).rejects.toThrow('it exists already. Name a new folder');
  await expect(backUp(target, join(parent, 'copy'))).rejects.toThrow('holds no database of a local gateway');
  rmSync(join(folder.path, 'secrets/pepper'));
  await expect(backUp(folder.path, join(parent, 'copy'))).rejects.toThrow('has lost secrets/pepper');
  expect([readdirSync(target), readdirSync(parent).includes('copy')]).toEqual([[], false]);
});
