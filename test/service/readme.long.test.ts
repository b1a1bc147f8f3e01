import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type Program, programsToRun } from '../docs/programs.ts';
import { startGateway } from '../support/gateway.ts';
import { TEST_DAY } from '../support/in-process-gateway.ts';
import type { TestProgram } from '../support/program.ts';

const root = join(import.meta.dirname, '../..');
const TOP_UP_KEY = 'a-top-up-key-of-the-documents';

let provider: Simulator;
let gateway: TestProgram;
/** Working folder of the programs, in which the packages of this repository resolve. */
const folder = mkdtempSync(join(root, 'node_modules', '.readme-'));

beforeAll(async () => {
  provider = await startSimulator();
  const environment = { VIDEO_POLL_SECONDS: '1', TOP_UP_KEY };
  gateway = await startGateway({ stores: 'engine', vendorUrl: provider.url, environment });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (command: string, args: readonly string[], input: string) => {
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      GATEWAY_URL: gateway.url,
      GATEWAY_KEY: gateway.apiKey,
      TOP_UP_KEY,
      DATA_DIR: gateway.folder,
    },
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

const today = new Date().toISOString().slice(0, 10);
const retired = loadCatalog(catalogData)
  .list(TEST_DAY)
  .filter(({ lifecycle }) => lifecycle.shutdownDate !== null && lifecycle.shutdownDate <= today);

/** Programs of a language, except those that name a retired model. */
const programsOf = (language: string): readonly (readonly [string, Program])[] =>
  programsToRun()
    .filter((program) => program.language === language)
    .filter(({ code }) => !retired.some(({ id }) => new RegExp(`["']${id}["']`).test(code)))
    .map((program) => [`${program.page}:${program.line}`, program]);

const hasShell = existsSync('/bin/sh') && existsSync('/usr/bin/curl');
if (!hasShell) console.log('curl is not installed. The shell programs of the documents are skipped.');

const python = process.env.PYTHON ?? 'python3';
const hasPython = spawnSync(python, ['-c', 'import openai, anthropic']).status === 0;
if (!hasPython) console.log('The Python SDKs are not installed. The Python programs of the documents are skipped.');

describe('programs of the documents', () => {
  test('README.md and the guides have a program for every SDK', () => {
    const code = programsOf('js').map(([, program]) => program.code);
    const wanted = ['openai', '@anthropic-ai/sdk', '@google/genai', '@langchain/openai', 'ai'];
    expect(wanted.filter((name) => !code.some((each) => each.includes(`from '${name}'`)))).toEqual([]);
  });

  test.each(programsOf('js'))('the program at %s succeeds', async (_place, { code }) => {
    const { output, errors, code: status } = await run(process.execPath, ['--input-type=module'], code);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    if (/console\.log|process\.stdout/.test(code)) expect(output.trim()).not.toBe('');
    if (code.includes('/app/credits')) expect(output).toMatch(/^200 .*"ref":"payment-17"/);
  });

  test.skipIf(!hasPython).each(programsOf('python'))('the program at %s succeeds', async (_place, { code }) => {
    const { output, errors, code: status } = await run(python, ['-'], code);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(output.trim()).not.toBe('');
  });

  // Shell programs run last, because the commands of the last page replace the API key.
  test.skipIf(!hasShell).each(programsOf('sh'))('the commands at %s succeed', async (_place, { code }) => {
    const commands = code.replaceAll('npm run cli --', `'${process.execPath}' '${join(root, 'bin/cli.ts')}'`);
    const script = `set -eu\ncurl() { command curl -sS --fail-with-body "$@"; }\n${commands}`;
    const { output, errors, code: status } = await run('/bin/sh', ['-c', script], '');
    expect(status, `${output.slice(-500)}\n${errors}`).toBe(0);
    expect(output).not.toBe('');
  });
});
