import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { joinDataFolder, openDataFolder, readOrCreateSecret, resetDataFolder } from '../../local/data-folder.ts';
import { processIdentity } from '../../local/process-identity.ts';

let parent = '';
let path = '';

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gateway-folder-'));
  path = join(parent, 'data');
});

const modeOf = (file: string) => statSync(file).mode & 0o777;

test('OPS-7 only the owner can read the data folder and its subfolders', () => {
  const folder = openDataFolder(path);
  expect([modeOf(path), modeOf(folder.room('media'))]).toEqual([0o700, 0o700]);
  folder.close();
});

test('only one process can open a folder, and another one can after it is closed', () => {
  const folder = openDataFolder(path);
  expect(() => openDataFolder(path)).toThrow(`is in use by process ${process.pid}. Stop it first.`);
  folder.close();
  openDataFolder(path).close();
  expect(readdirSync(path)).toEqual(['.model-gateway']);
});

test('OPS-7 a folder that processes share is neither reset nor used alone before all have left', async () => {
  const joined = [joinDataFolder(path), joinDataFolder(path)];
  for (const folder of joined) {
    expect(() => openDataFolder(path)).toThrow(`is in use by process ${process.pid}. Stop it first.`);
    await expect(resetDataFolder(path)).rejects.toThrow('is in use by process');
    folder.close();
  }
  const alone = openDataFolder(path);
  expect(() => joinDataFolder(path)).toThrow(`is in use by process ${process.pid}. Stop it first.`);
  alone.close();
});

/** Returns the identity of a process with the same pid that started at another clock tick. */
const ofAnEarlierProcess = () => String(processIdentity(process.pid)).replace(/\+\d+/, '+1');

const gone = () => Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
test.each([
  ['of a process that ended', () => JSON.stringify({ pid: gone(), identity: 'gone@boot+1', token: 'a' })],
  [
    'of a process whose pid now belongs to another process',
    () => JSON.stringify({ pid: process.pid, identity: ofAnEarlierProcess(), token: 'a' }),
  ],
  ['that is unreadable', () => ''],
])('an open takes over a lock %s', (_, lock) => {
  openDataFolder(path).close();
  writeFileSync(join(path, 'lock'), lock());
  openDataFolder(path).close();
});

test.runIf(process.platform === 'linux')('a lock of a process in another container is not taken over', () => {
  openDataFolder(path).close();
  const identity = `${processIdentity(process.pid)}1`;
  writeFileSync(join(path, 'lock'), JSON.stringify({ pid: process.pid, identity, token: 'a' }));
  expect(() => openDataFolder(path)).toThrow(`is in use by process ${process.pid}. Stop it first.`);
});

test('a late close does not release the lock of the next owner', () => {
  const first = openDataFolder(path);
  rmSync(join(path, 'lock'));
  const second = openDataFolder(path);
  first.close();
  expect(existsSync(join(path, 'lock'))).toBe(true);
  second.close();
});

test('a secret is created once, is kept, and only its owner can read it', () => {
  const folder = openDataFolder(path);
  let made = 0;
  const make = () => {
    made += 1;
    return `secret-${made}`;
  };
  expect(readOrCreateSecret(folder, 'pepper', make)).toBe('secret-1');
  expect(readOrCreateSecret(folder, 'pepper', make)).toBe('secret-1');
  expect(made).toBe(1);
  expect(modeOf(join(path, 'secrets/pepper'))).toBe(0o600);
  expect(readdirSync(join(path, 'secrets'))).toEqual(['pepper']);
  folder.close();
});

test('an empty secret file is an error and never used as a secret', () => {
  const folder = openDataFolder(path);
  writeFileSync(join(folder.room('secrets'), 'pepper'), '');
  expect(() => readOrCreateSecret(folder, 'pepper', () => 'new')).toThrow('is empty');
  folder.close();
});

test('OPS-7 a reset removes only what the program created', async () => {
  const folder = openDataFolder(path);
  readOrCreateSecret(folder, 'pepper', () => 'secret');
  folder.room('media');
  folder.close();
  writeFileSync(join(path, 'notes.txt'), 'mine');
  await resetDataFolder(path);
  expect(readdirSync(path).sort()).toEqual(['.model-gateway', 'notes.txt']);
});

test('a reset of a folder that does not exist does nothing', async () => {
  await resetDataFolder(path);
  expect(existsSync(path)).toBe(false);
});

test('OPS-7 a folder with unknown files is neither opened nor reset', async () => {
  writeFileSync(join(parent, 'thesis.txt'), 'precious');
  expect(() => openDataFolder(parent)).toThrow('was not made by this program');
  await expect(resetDataFolder(parent)).rejects.toThrow('was not made by this program');
  expect(readdirSync(parent)).toEqual(['thesis.txt']);
});

test('a data folder that is a file is rejected with its path', () => {
  writeFileSync(path, 'mine');
  expect(() => joinDataFolder(path)).toThrow(`${path} cannot be used: `);
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

/** Skipped for root, which may write to a read-only folder. */
test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a read-only folder is rejected with a fix',
  () => {
    chmodSync(parent, 0o500);
    const reason = `${path} cannot be used: permission denied. Run the program as the owner of the data folder.`;
    for (const open of [openDataFolder, joinDataFolder]) expect(() => open(path)).toThrow(reason);
    chmodSync(parent, 0o700);
  },
);
