import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const program = join(import.meta.dirname, '../../bin/local.ts');
const root = join(import.meta.dirname, '../..');

export type Environment = Readonly<Record<string, string>>;

export interface LocalProcess {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Exit code, or null if a signal ended the program. Undefined while it runs. */
  ended(): number | null | undefined;
  readonly end: Promise<number | null>;
  /** Sends the signal to the whole process group, as a terminal does on Ctrl-C. */
  kill(signal: NodeJS.Signals): void;
}

const inheritedNames = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE'] as const;

/**
 * Variables that a test passes on to a program. All others stay out, so that the program never gets a provider's real
 * key.
 */
export const inherited = (): Environment =>
  Object.fromEntries(inheritedNames.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

/**
 * Starts `bin/local.ts` as a separate program with only the given variables, so that it never gets a provider's real
 * key. `flags` are those of Node.
 */
export function spawnLocal(
  environment: Environment,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): LocalProcess {
  const child = spawn(process.execPath, [...flags, program, ...args], {
    cwd: root,
    env: { ...inherited(), PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('bin/local.ts could not be started');
  const text = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text.stdout += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text.stderr += more));
  const kill = (signal: NodeJS.Signals): void => killGroup(child, pid, signal);
  const killAtExit = (): void => kill('SIGKILL');
  process.once('exit', killAtExit);
  let ended: number | null | undefined;
  const end = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      process.off('exit', killAtExit);
      ended = code;
      resolve(code);
    });
  });
  return { pid, stdout: () => text.stdout, stderr: () => text.stderr, ended: () => ended, end, kill };
}

function killGroup(child: ChildProcess, pid: number, signal: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) process.kill(-pid, signal);
}

/** Calls `probe` until it returns a value. The time limit only stops a hang. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  limitMs = 30_000,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > giveUpAt) throw new Error(`timed out waiting for ${what}`);
    await sleep(25);
  }
}

/** Limits the wait for a promise that might never settle. */
export async function within<T>(what: string, pending: Promise<T>, limitMs = 30_000): Promise<T> {
  const timer = new AbortController();
  const tooLate = sleep(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`timed out waiting for ${what}`);
  });
  try {
    return await Promise.race([pending, tooLate]);
  } finally {
    tooLate.catch(() => undefined);
    timer.abort();
  }
}
