import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { joinDataFolder, openDataFolder, readOrCreateSecret } from '../../local/data-folder.ts';
import { processIdentity } from '../../local/process-identity.ts';

let path: string;
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'gateway-folder-')), 'data');
});

const gone = () => Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
test.each([
  ['has ended', () => `${gone()} gone@boot+1`],
  ['lost its pid to another process', () => `${process.pid} ${processIdentity(process.pid)}1`],
  ['ended before it wrote its entry', () => ''],
])('OPS-7 a process that %s does not keep a shared folder in use', (_, entry) => {
  joinDataFolder(path).close();
  mkdirSync(join(path, 'processes'), { recursive: true });
  writeFileSync(join(path, 'processes', 'entry'), entry());
  openDataFolder(path).close();
  expect(readdirSync(join(path, 'processes'))).toEqual([]);
});

test('OPS-7 two processes that create a secret at the same time both get the first one', () => {
  const folder = joinDataFolder(path);
  const makeLate = () => {
    readOrCreateSecret(folder, 'pepper', () => 'first');
    return 'second';
  };
  expect(readOrCreateSecret(folder, 'pepper', makeLate)).toBe('first');
  expect(readOrCreateSecret(folder, 'pepper', makeLate)).toBe('first');
  expect(readdirSync(join(path, 'secrets'))).toEqual(['pepper']);
  folder.close();
});
