import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../..');
const program = join(repository, 'node_modules/vitest/vitest.mjs');
/** Far more than any of the files takes: a bug may also make a test wait for ever. */
const KILLED_AFTER_MS = 300_000;

const projectOf = (file: string): string => (file.startsWith('test/contracts/') ? 'integration' : 'unit');

export interface Ran {
  readonly exitCode: number | null;
  /** What the JSON reporter wrote; an empty text when it did not get that far. */
  readonly report: string;
  readonly output: string;
}

/** Runs test files in a vitest of their own, up to the first failure when there is a bug in it. */
export const runVitest = async (files: readonly string[], folder: string, bugId?: string): Promise<Ran> => {
  const reportPath = join(folder, `${bugId ?? 'without'}.json`);
  const projects = [...new Set(files.map(projectOf))].flatMap((name) => ['--project', name]);
  const options = ['--reporter=json', `--outputFile=${reportPath}`, ...(bugId ? ['--bail=1', '--maxWorkers=1'] : [])];
  const { MONEY_BUG: _outer, ...environment } = process.env;
  const child = spawn(process.execPath, [program, 'run', ...projects, ...options, ...files], {
    cwd: repository,
    env: bugId === undefined ? environment : { ...environment, MONEY_BUG: bugId },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: KILLED_AFTER_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { exitCode, report: await readFile(reportPath, 'utf8').catch(() => ''), output };
};
