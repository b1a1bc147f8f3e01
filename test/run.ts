import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { areaNames, projectOf, type Tier } from './tiers.ts';

// `npm test` is `node test/run.ts quick`, `npm run test:long` is `node test/run.ts long`. The last line is the sum of
// all checks: `N passed, N failed`. A run leaves no process and no temporary file, also after Ctrl-C.

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const [tier] = process.argv.slice(2);
if (tier !== 'quick' && tier !== 'long') {
  process.stderr.write('Usage: node test/run.ts quick|long\n');
  process.exit(2);
}

const bin = (name: string): string => join(import.meta.dirname, '../node_modules/.bin', name);
/** Every temporary file of the run is in this folder, and every process of the run has it in its environment. */
const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
const environment = { ...process.env, TMPDIR: folder, NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
const children = new Set<ChildProcess>();
let stopped = false;

/** Runs a program to its end. Resolves with its exit code and output. */
const run = (program: string, args: readonly string[], isShown: boolean) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    // Programs in node_modules/.bin are scripts on Windows, and only a shell starts those.
    const child = spawn(program, args, {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        output += bytes;
        if (isShown) process.stdout.write(bytes);
      });
    }
    const end = (code: number | null): void => {
      children.delete(child);
      resolve({ code: code ?? 1, output });
    };
    child.once('error', (error) => {
      output += error.message;
      end(1);
    });
    child.once('close', end);
  });

const check = async (name: string, program: string, args: readonly string[]): Promise<Count> => {
  const { code, output } = await run(bin(program), args, false);
  if (!stopped) process.stdout.write(code === 0 ? ` ✓ ${name}\n` : `${output}FAILED ${name}\n`);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
};

const vitest = async (of: Tier): Promise<Count> => {
  const projects = areaNames.map((area) => `--project=${projectOf(area, of)}`);
  const { code, output } = await run(
    bin('vitest'),
    ['run', '--configLoader=native', '--passWithNoTests', ...projects],
    true,
  );
  const [, passed = 0, failed = 0, skipped = 0] = (
    /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(output) ?? []
  ).map(Number);
  // A run that ends without its count, or with an error outside of a test, has failed.
  return { passed, failed: Math.max(failed, code === 0 ? 0 : 1), skipped: skipped || 0 };
};

/** Runs after the tests, because other load changes the ratio of the two programs that the guard compares. */
const guard = async (): Promise<Count> => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, '../bench/guard.ts')], true);
  const skipped = code === 0 && /^skipped/m.test(output) ? 1 : 0;
  return { passed: code === 0 ? 1 - skipped : 0, failed: code === 0 ? 0 : 1, skipped };
};

/**
 * Processes of this run that still exist: their temp folder is the run's, or in it. Linux only, elsewhere the list is
 * empty.
 */
const leftProcesses = (): readonly number[] => {
  const numbers = process.platform === 'linux' ? readdirSync('/proc').map(Number) : [];
  return numbers.filter((pid) => pid > 0 && pid !== process.pid && isOfRun(pid));
};

const isOfRun = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`);
  } catch {
    return false;
  }
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
};

const WAIT_MS = 50;
const ROUNDS_MAX = 100;

/** Ends the processes that are left, and those that they start meanwhile. Returns their ids. */
const endLeft = (): readonly number[] => {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const pids = leftProcesses();
    if (pids.length === 0) break;
    for (const pid of pids) {
      ended.add(pid);
      kill(pid);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
  return [...ended];
};

/** Ends what is left and removes the folder. Returns the names of what a test should have removed. */
const clean = (): readonly string[] => {
  const pids = endLeft();
  const files = readdirSync(folder).filter((name) => name !== 'compile-cache');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return [...pids.map((pid) => `process ${pid}`), ...files];
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopped = true;
    for (const child of children) child.kill('SIGKILL');
    clean();
    process.stderr.write(`\n${signal}: the tests are stopped.\n`);
    process.exit(128 + constants.signals[signal]);
  });
}

const startedAt = performance.now();
const style = (): Promise<Count>[] => [
  check('style (biome)', 'biome', ['check']),
  check('types (tsc)', 'tsc', []),
  check('types of the pages (tsc -p web)', 'tsc', ['-p', 'web']),
];
const counts = await Promise.all([vitest(tier), ...(tier === 'quick' ? style() : [])]);
if (tier === 'long' && !stopped) counts.push(await guard());
const left = clean();
if (left.length > 0) process.stdout.write(`FAILED The tests leave behind: ${left.join(', ')}\n`);
counts.push({ passed: 0, failed: left.length > 0 ? 1 : 0, skipped: 0 });

const sumOf = (kind: keyof Count): number => counts.reduce((sum, count) => sum + count[kind], 0);
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
process.stdout.write(`\nThe ${tier} tier took ${minutes} minutes.\n`);
const skipped = sumOf('skipped');
process.stdout.write(
  `${sumOf('passed')} passed, ${sumOf('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
);
if (sumOf('failed') > 0) process.exitCode = 1;
