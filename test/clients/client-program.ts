import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Route, ScenarioName } from './client.ts';
import { endGroup } from './run-command.ts';

/** One line on the stdin of a client program. */
export interface Job {
  readonly scenario: ScenarioName;
  readonly route: Route;
  readonly model: string;
  /** API key that replaces `GATEWAY_KEY`. */
  readonly key?: string;
}

/** One line on the stdout of a client program. */
const reportSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error: z.string(), status: z.number().nullish() }),
]);

export type Report = z.output<typeof reportSchema>;

export interface ClientProgram {
  run(job: Job): Promise<Report>;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limitMs: number;
}

const failed = (error: string): Report => ({ ok: false, error });

/** A program that reads scenarios from stdin. It is started when first used, and again after it ended. */
export const startProgram = (options: ProgramOptions): ClientProgram => {
  let current: Process | undefined;
  return {
    run: async (job) => {
      current ??= startProcess(options);
      const report = await current.ask(job);
      if (current.hasEnded()) current = undefined;
      return report;
    },
    stop: async () => {
      await current?.end();
      current = undefined;
    },
  };
};

type Process = ReturnType<typeof startProcess>;

const startProcess = ({ command: [program = '', ...args], cwd, env, limitMs }: ProgramOptions) => {
  const child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true });
  let stderr = '';
  let hasEnded = false;
  const kill = (): void => endGroup(child.pid);
  process.once('exit', kill);
  child.stderr.setEncoding('utf8').on('data', (more: string) => (stderr += more));
  // Ignores failed writes to a program that has ended. `ask` reports its end.
  child.stdin.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      stderr += error.message;
      resolve();
    });
    child.once('close', () => resolve());
  }).then(() => {
    hasEnded = true;
    process.off('exit', kill);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  const ask = async (job: Job): Promise<Report> => {
    stderr = '';
    child.stdin.write(`${JSON.stringify(job)}\n`);
    const timer = new AbortController();
    const tooLate = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
    const line = await Promise.race([lines.next(), tooLate]);
    timer.abort();
    if (line === 'late') {
      kill();
      await closed;
      return failed(`no result after ${limitMs / 1_000} s`);
    }
    if (line.done) {
      await closed;
      return failed(`the program ended: ${stderr.trim().split('\n').slice(-3).join(' ')}`);
    }
    const report = reportSchema.safeParse(parseJson(line.value));
    return report.data ?? failed(`not a report: ${line.value}`);
  };
  const end = async (): Promise<void> => {
    child.stdin.end();
    await Promise.race([closed, sleep(2_000, undefined, { ref: false })]);
    kill();
    await closed;
  };
  return { ask, end, hasEnded: () => hasEnded };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
