import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openKeyFile } from '../../../../bin/commands/import/key-file.ts';
import { makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'key-file-'));

const newKey = (): string => makeApiKey(randomBytes(32));

/** Creates a key file with two keys. */
const written = (name: string) => {
  const path = join(folder, name);
  const keys = [newKey(), newKey()] as const;
  const file = openKeyFile(path, 'b1');
  file.add('one', keys[0]);
  file.add('two', keys[1]);
  file.close();
  return { path, keys };
};

test('OPS-5 import: written keys are on the disk, readable by this user only, and found again', () => {
  const { path, keys } = written('plain.csv');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toBe(`batch,account,key\nb1,one,${keys[0]}\nb1,two,${keys[1]}\n`);
  const again = openKeyFile(path, 'b1');
  expect([...again.entries()]).toEqual([
    ['one', keys[0]],
    ['two', keys[1]],
  ]);
  expect(again.keyOf('three')).toBeUndefined();
  const third = newKey();
  again.add('three', third);
  again.close();
  expect(readFileSync(path, 'utf8')).toContain(`\nb1,three,${third}\n`);
});

test('OPS-5 import: a file cut off at any byte keeps its whole lines and is completed', () => {
  const { path, keys } = written('cut.csv');
  const whole = readFileSync(path);
  for (let bytes = whole.length; bytes >= 0; bytes -= 1) {
    writeFileSync(path, whole.subarray(0, bytes));
    const text = whole.subarray(0, bytes).toString();
    const file = openKeyFile(path, 'b1');
    const found = [...file.entries()].map(([account]) => account);
    expect(found).toEqual(['one', 'two'].filter((account, at) => text.includes(`b1,${account},${keys[at]}\n`)));
    file.add('last', keys[0]);
    file.close();
    const reread = openKeyFile(path, 'b1');
    expect([...reread.entries()].map(([account]) => account)).toEqual([...found, 'last']);
    reread.close();
  }
});

test.each([
  ['another import', (text: string) => text.replaceAll('b1,', 'b2,')],
  ['an invalid key', (text: string) => text.replace(/.\n$/, '\n')],
  ['a file with other content', () => 'precious\n'],
  ['a file with other content in one line', () => 'precious'],
  ['a line with an extra cell', (text: string) => text.replace(/\n$/, ',more\n')],
])('OPS-5 import: %s is rejected and left unchanged', (name, change) => {
  const { path } = written(`${name}.csv`);
  const other = change(readFileSync(path, 'utf8'));
  writeFileSync(path, other);
  expect(() => openKeyFile(path, 'b1')).toThrow(expect.objectContaining({ exitCode: 3 }));
  expect(readFileSync(path, 'utf8')).toBe(other);
});

test('OPS-5 import: a file that others can read, a link or a missing folder is rejected', () => {
  const { path } = written('open.csv');
  const link = join(folder, 'link.csv');
  symlinkSync(path, link);
  expect(() => openKeyFile(link, 'b1')).toThrow();
  const loose = join(folder, 'loose.csv');
  writeFileSync(loose, '', { mode: 0o644 });
  truncateSync(loose);
  expect(() => openKeyFile(loose, 'b1')).toThrow(expect.objectContaining({ exitCode: 3 }));
  expect(() => openKeyFile(join(folder, 'none', 'keys.csv'), 'b1')).toThrow(expect.objectContaining({ exitCode: 1 }));
});
