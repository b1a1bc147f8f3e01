import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backUp } from '../../local/backup.ts';
import { joinDataFolder, openDataFolder, readOrCreateSecret } from '../../local/data-folder.ts';
import { DATABASE_FILE, type EmbeddedStores, openEmbeddedStores } from '../../local/embedded-stores.ts';
import { accountNamed } from '../contracts/account-subjects.ts';

let parent: string;
let path: string;
let copy: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'backup-'));
  path = join(parent, 'data');
  copy = join(parent, 'copy');
});
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
  rmSync(parent, { recursive: true, force: true });
});

/** Opens the stores of a gateway that runs on the folder. */
const openGateway = async (): Promise<EmbeddedStores> => {
  const folder = joinDataFolder(path);
  opened.push(folder);
  readOrCreateSecret(folder, 'pepper', () => 'a pepper');
  const stores = await openEmbeddedStores(folder.room('database'), { filesFolder: folder.room('files') });
  opened.push(stores);
  await stores.deps.accounts.open(accountNamed('one', { creditPicos: 100n }));
  return stores;
};

const noteOf = (holdId: string) => ({
  record: { accountId: 'one', holdId, requestId: holdId, outcome: 'settled', amountPicos: 1n, at: 0 } as const,
  holdAmountPicos: 1n,
});

/**
 * Runs `act` as soon as the file exists, between two steps of the copy: each step takes at least one event loop turn.
 */
const whenThere = async (file: string, act: () => void): Promise<void> => {
  for (let turn = 0; !existsSync(file); turn += 1) {
    if (turn > 100_000) throw new Error(`${file} is not there`);
    await nextTurn();
  }
  act();
};

test('BILL-14 OPS-10 a copy has the outbox entries written or removed during its database copy', async () => {
  const { deps } = await openGateway();
  await deps.outbox.put(noteOf('early.0'));
  const [outbox, copied] = [join(path, 'files/outbox'), join(copy, 'files/outbox')];
  const copying = backUp(path, copy);
  await whenThere(join(copy, 'database'), () => {
    writeFileSync(join(outbox, 'late.0'), 'late');
    rmSync(join(outbox, 'early.0'));
  });
  await copying;
  expect(readdirSync(copied).sort()).toEqual(['early.0', 'late.0']);
});

test.skipIf(process.platform === 'win32')('OPS-10 only the owner can read a copy', async () => {
  const { deps } = await openGateway();
  await deps.answers.put('response', 'text');
  await backUp(path, copy);
  const modes = readdirSync(copy, { recursive: true, withFileTypes: true }).map((entry) => {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    return [entry.name, mode === (entry.isDirectory() ? 0o700 : 0o600)];
  });
  expect(modes.length).toBeGreaterThan(8);
  expect(modes.filter(([, isClosed]) => !isClosed)).toEqual([]);
  expect(statSync(copy).mode & 0o777).toBe(0o700);
});

test('BILL-14 OPS-10 a copy omits files that are still being written', async () => {
  await openGateway();
  writeFileSync(join(path, 'files/outbox/.1.draft'), 'half');
  await backUp(path, copy);
  expect(readdirSync(join(copy, 'files/outbox'))).toEqual([]);
});

test('OPS-10 a copy that fails is removed', async () => {
  const folder = joinDataFolder(path);
  opened.push(folder);
  readOrCreateSecret(folder, 'pepper', () => 'a pepper');
  writeFileSync(join(folder.room('database'), DATABASE_FILE), 'not a database '.repeat(500));
  await expect(backUp(path, copy)).rejects.toThrow('is not a database');
  expect(existsSync(copy)).toBe(false);
});

test('OPS-10 a folder that one process uses alone is not copied', async () => {
  const folder = openDataFolder(path);
  opened.push(folder);
  readOrCreateSecret(folder, 'pepper', () => 'a pepper');
  folder.room('database');
  await expect(backUp(path, copy)).rejects.toThrow('is in use by process');
});
