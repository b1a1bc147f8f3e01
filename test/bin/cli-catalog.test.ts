import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHere } from '../support/scripted-terminal.ts';

const root = join(import.meta.dirname, '../..');
const cli = (...args: readonly string[]) => runHere(args);

/** Copies the catalog and replaces one text in one file. */
const catalogWith = (file: string, from: string, to: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'));
  cpSync(join(root, 'catalog'), folder, { recursive: true });
  const content = readFileSync(join(folder, file), 'utf8');
  expect(content).toContain(from);
  writeFileSync(join(folder, file), content.replace(from, to));
  return folder;
};

test('OPS-5 catalog check prints counts on stdout and warnings on stderr, and exits with 0', async () => {
  const { status, stdout, stderr } = await cli('catalog', 'check');
  expect(stdout).toMatch(/^\d+ models \(\d+ enabled\), \d+ providers: ok\n$/);
  expect(stderr).toMatch(/^warning {2}gpt-image-2-fixed {2}verification {2}/m);
  expect(status).toBe(0);
});

test('OPS-5 doctor counts the warnings of catalog check', async () => {
  const { stderr } = await cli('catalog', 'check');
  const warnings = stderr.split('\n').filter((line) => line.startsWith('warning  '));
  const { stdout } = await runHere(['doctor'], { DATA_DIR: join(tmpdir(), 'no-gateway') });
  expect(stdout).toMatch(new RegExp(`^warning +catalog +\\d+ models, ${warnings.length} warnings`, 'm'));
});

test('OPS-5 catalog check --json prints one JSON object', async () => {
  const { status, stdout, stderr } = await cli('catalog', 'check', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('CAT-5 catalog check prints id, field and message of each problem and exits with 1', async () => {
  const folder = catalogWith('anthropic.json', '"contextTokens": 1000000', '"contextToken": 1000000');
  const { status, stdout } = await cli('catalog', 'check', '--folder', folder);
  expect(stdout.split('\n').filter((line) => line.startsWith('claude-fable-5-2  limits.'))).toEqual([
    'claude-fable-5-2  limits.contextTokens  is missing (number)',
    'claude-fable-5-2  limits.contextToken  is not a field of this entry',
  ]);
  expect(status).toBe(1);
  const json = await cli('catalog', 'check', '--json', '--folder', folder);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, problems: [{ id: 'claude-fable-5-2' }, {}] });
  expect(json.status).toBe(1);
});

test.each([
  ['an unknown provider', 'openai.json', '"provider": "openai"', '"provider": "unknown"', 'upstreams[0].provider'],
  ['an uneven price', 'openai.json', '"input": "8"', '"input": "8.0000001"', 'prices[0].rates.input'],
])('CAT-5 catalog check names %s', async (_, file, from, to, field) => {
  const { status, stdout } = await cli('catalog', 'check', '--folder', catalogWith(file, from, to));
  expect(stdout).toMatch(/^gpt-6\.2-astra {2}/);
  expect(stdout.split('  ')[1]).toBe(field);
  expect(status).toBe(1);
});

test('CAT-5 catalog check names a file that is not JSON', async () => {
  const { status, stdout } = await cli('catalog', 'check', '--folder', catalogWith('google.json', '{', ''));
  expect(stdout).toMatch(/^google\.json {2}/);
  expect(status).toBe(1);
});

test('BILL-3 catalog check --markup reports prices that the markup makes uneven', async () => {
  expect((await cli('catalog', 'check', '--markup', '1.25')).status).toBe(0);
  const { status, stdout } = await cli('catalog', 'check', '--markup', '1.0000001');
  expect(stdout).toContain('gpt-6.2-astra  prices[0].rates.input  ');
  expect(status).toBe(1);
});

test('OPS-5 catalog check exits with 2 for wrong usage, 0 for help, 1 for a missing folder', async () => {
  expect((await cli('catalog', 'chekc')).status).toBe(2);
  expect((await cli('catalog', 'check', '--nope')).status).toBe(2);
  expect((await cli('--help')).status).toBe(0);
  expect((await cli('catalog', 'check', '--folder', '/nonexistent')).status).toBe(1);
});

const folder = (): string => catalogWith('providers.json', '"name": "OpenAI"', '"name": "OpenAI"');

test('OPS-5 catalog diff of two equal catalogs prints nothing and exits with 0', async () => {
  expect(await cli('catalog', 'diff', folder())).toMatchObject({ status: 0, stdout: '', stderr: '' });
  const { status, stdout } = await cli('catalog', 'diff', folder(), folder(), '--json');
  expect([status, JSON.parse(stdout)]).toEqual([0, { same: true, added: [], removed: [], changed: [] }]);
});

test('OPS-5 catalog diff prints changed models, fields and prices in percent, and exits with 1', async () => {
  const old = folder();
  const now = catalogWith('openai.json', '"input": "8"', '"input": "10"');
  const file = join(now, 'openai.json');
  const { models } = JSON.parse(readFileSync(file, 'utf8'));
  const [first, second] = models;
  models[1] = { ...second, id: 'gpt-new' };
  first.limits.outputTokensMax = 1;
  first.aliases = ['gpt-alias'];
  writeFileSync(file, JSON.stringify({ models }));
  const { status, stdout } = await cli('catalog', 'diff', old, now, '--json');
  expect(status).toBe(1);
  const { added, removed, changed } = JSON.parse(stdout);
  expect([added, removed]).toEqual([['gpt-new'], [second.id]]);
  const price = { id: 'gpt-6.2-astra', field: 'prices[first].rates.input', old: '8', new: '10', percent: 25 };
  expect(changed).toContainEqual(price);
  expect(changed).toContainEqual(expect.objectContaining({ id: first.id, field: 'aliases', new: '["gpt-alias"]' }));
  expect(changed.map(({ field }: { field: string }) => field)).toContain('limits.outputTokensMax');
  const text = await cli('catalog', 'diff', old, now);
  expect(text.stdout).toContain(`- ${second.id}\n+ gpt-new\n`);
  expect(text.stdout).toContain('~ gpt-6.2-astra  prices[first].rates.input  8 -> 10  (+25%)\n');
});

test('OPS-5 catalog diff with the file of one company compares only that company', async () => {
  const now = catalogWith('google.json', '"enabled": true', '"enabled": false');
  for (const args of [[join(now, 'google.json')], [folder(), join(now, 'google.json')]]) {
    const { status, stdout } = await cli('catalog', 'diff', ...args);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^~ gemini-\S+ {2}enabled {2}\w+ -> \w+\n$/);
  }
});

test('OPS-5 catalog diff exits with 2 for files that cannot be compared', async () => {
  expect((await cli('catalog', 'diff', '/nonexistent')).status).toBe(2);
  expect((await cli('catalog', 'diff', catalogWith('google.json', '{', ''))).status).toBe(2);
  const stray = join(folder(), 'stray.json');
  writeFileSync(stray, '{"models": []}');
  expect((await cli('catalog', 'diff', stray)).status).toBe(2);
});
