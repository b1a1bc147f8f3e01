import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { TEST_DAY } from '../support/in-process-gateway.ts';
import type { TestProgram } from '../support/program.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, code = '']) =>
    name === language ? [code] : [],
  );

/** Those that are whole programs. */
const programs = blocks('js').filter((code) => code.startsWith('import '));

const TOP_UP_KEY = 'a-top-up-key-of-the-readme';

let vendor: Simulator;
let gateway: TestProgram;
/** What the programs write to, with the packages of this repository above it. */
const folder = mkdtempSync(join(root, 'node_modules', '.readme-'));

beforeAll(async () => {
  vendor = await startSimulator();
  const environment = { VIDEO_POLL_SECONDS: '1', TOP_UP_KEY };
  gateway = await startGateway({ stores: 'engine', vendorUrl: vendor.url, environment });
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (command: string, args: readonly string[], input: string) => {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, URL: gateway.url, KEY: gateway.apiKey, TOP_UP_KEY, DATA_DIR: gateway.folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  return { output, errors, code };
};

const packageOf = (code: string): string =>
  [...code.matchAll(/from '([^']+)'/g)].map(([, name = '']) => name).findLast((name) => !name.startsWith('node:')) ??
  'node';

test('ERR-7 the advice on repeating and on proxies that buffer stands in the README', () => {
  expect(readme).toMatch(/429, 500, 502, 503 or 504[\s\S]{0,80}1, 2, 5, 15 and 30 seconds/);
  expect(readme).toMatch(/reverse proxy[\s\S]{0,80}must not buffer/);
});

test('there is a program for every SDK that is named', () => {
  const packages = programs.map(packageOf);
  const wanted = ['openai', '@anthropic-ai/sdk', '@google/genai', '@langchain/openai', 'ai'];
  expect(wanted.filter((name) => !packages.includes(name))).toEqual([]);
});

const today = new Date().toISOString().slice(0, 10);
const retired = loadCatalog(catalogData)
  .list(TEST_DAY)
  .filter(({ lifecycle }) => lifecycle.shutdownDate !== null && lifecycle.shutdownDate <= today);
/** A program that names a model is skipped from the day on which the model retires. */
const sold = programs.filter((code) => !retired.some(({ id }) => code.includes(`'${id}'`)));

test.each(sold.map((code) => [packageOf(code), code] as const))(
  'the program for %s runs as it stands',
  async (_name, code) => {
    const { output, errors, code: status } = await run(process.execPath, ['--input-type=module'], code);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    // A function to check a signature with has nothing to say by itself.
    if (code.includes('console.log') || code.includes('stdout')) expect(output.trim()).not.toBe('');
  },
);

/** A line each, whatever of it continues on the next. */
const requests = blocks('')
  .flatMap((code) => code.replaceAll(/\\\n\s*/g, '').split('\n'))
  .filter((line) => line.startsWith('curl ') && !line.includes('video_...'));

const hasShell = existsSync('/bin/sh') && existsSync('/usr/bin/curl');
if (!hasShell) console.log('No curl here: the requests of the README are not sent.');

test.skipIf(!hasShell).each(requests)('%s', async (line) => {
  const { output, code } = await run('/bin/sh', ['-c', line.replace(/^curl /, 'curl -sS --fail-with-body ')], '');
  expect(code, output).toBe(0);
  expect(output).not.toBe('');
});

test('the requests of the README are found', () => {
  expect(requests.length).toBeGreaterThan(10);
});

test('KEY-6 the report of a payment that it shows is taken', async () => {
  const code = programs.find((program) => program.includes('/app/credits')) ?? '';
  const { output } = await run(process.execPath, ['--input-type=module'], code);
  expect(output).toMatch(/^200 .*"ref":"payment-17"/);
});

/** What needs a file of the reader's own, or looks at this machine as a whole, is not run. The key is replaced last of all. */
const commands = blocks('sh')
  .flatMap((code) => code.split('\n'))
  .filter((line) => /^npm run cli -- (accounts|keys) /.test(line));

test.skipIf(!hasShell)('OPS-5 the commands that it shows do what they say', async () => {
  expect(commands.length).toBeGreaterThan(2);
  for (const line of commands) {
    const command = line.replace('npm run cli --', `'${process.execPath}' '${join(root, 'bin/cli.ts')}'`);
    const { code, output, errors } = await run('/bin/sh', ['-c', command], '');
    expect(code, `${line}: ${errors}`).toBe(0);
    expect(output).not.toBe('');
  }
});
