import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const cli = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'bin/cli.ts'), ...args], { encoding: 'utf8' });

/** A copy of the catalog with one text replaced in one file. */
const catalogWith = (file: string, from: string, to: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'));
  folders.push(folder);
  cpSync(join(root, 'catalog'), folder, { recursive: true });
  const content = readFileSync(join(folder, file), 'utf8');
  expect(content).toContain(from);
  writeFileSync(join(folder, file), content.replace(from, to));
  return folder;
};

test('OPS-5 catalog check counts on stdout, warns on stderr and ends with 0', () => {
  const { status, stdout, stderr } = cli('catalog', 'check');
  expect(stdout).toMatch(/^\d+ models \(\d+ enabled\), \d+ providers: ok\n$/);
  expect(stderr).toMatch(/^warning {2}gpt-image-2-fixed {2}verification {2}/m);
  expect(status).toBe(0);
});

test('OPS-5 catalog check --json prints one object', () => {
  const { status, stdout, stderr } = cli('catalog', 'check', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('CAT-5 catalog check prints id, field and message of each problem and ends with 1', () => {
  const folder = catalogWith('anthropic.json', '"contextTokens": 1000000', '"contextToken": 1000000');
  const { status, stdout } = cli('catalog', 'check', '--folder', folder);
  expect(stdout.split('\n').filter((line) => line.startsWith('claude-fable-5-2  limits.'))).toEqual([
    'claude-fable-5-2  limits.contextTokens  is missing (number)',
    'claude-fable-5-2  limits.contextToken  is no field of this entry',
  ]);
  expect(status).toBe(1);
  const json = cli('catalog', 'check', '--json', '--folder', folder);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, problems: [{ id: 'claude-fable-5-2' }, {}] });
  expect(json.status).toBe(1);
});

test.each([
  ['an unknown provider', 'openai.json', '"provider": "openai"', '"provider": "nobody"', 'upstreams[0].provider'],
  ['an uneven price', 'openai.json', '"input": "8"', '"input": "8.0000001"', 'prices[0].rates.input'],
])('CAT-5 catalog check names %s', (_, file, from, to, field) => {
  const { status, stdout } = cli('catalog', 'check', '--folder', catalogWith(file, from, to));
  expect(stdout).toMatch(/^gpt-6\.2-astra {2}/);
  expect(stdout.split('  ')[1]).toBe(field);
  expect(status).toBe(1);
});

test('CAT-5 catalog check names a file that is no JSON', () => {
  const { status, stdout } = cli('catalog', 'check', '--folder', catalogWith('google.json', '{', ''));
  expect(stdout).toMatch(/^google\.json {2}/);
  expect(status).toBe(1);
});

test('BILL-3 catalog check --markup finds prices the markup makes uneven', () => {
  expect(cli('catalog', 'check', '--markup', '1.25').status).toBe(0);
  const { status, stdout } = cli('catalog', 'check', '--markup', '1.0000001');
  expect(stdout).toContain('gpt-6.2-astra  prices[0].rates.input  ');
  expect(status).toBe(1);
});

test('OPS-5 wrong usage ends with 2, help with 0, a missing folder with 1', () => {
  expect(cli('catalog', 'chekc').status).toBe(2);
  expect(cli('catalog', 'check', '--nope').status).toBe(2);
  expect(cli('--help').status).toBe(0);
  expect(cli('catalog', 'check', '--folder', '/nonexistent').status).toBe(1);
});
