import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes, clients and statistics of the benchmarks. */

export const root = join(import.meta.dirname, '..');

/** Whether programs run on the core that they are started for. */
export const isPinned = spawnSync('taskset', ['--version']).status === 0;

/** Core of the measured programs, and core of upstream and client. */
export const PROGRAM_CORE = 0;
export const CLIENT_CORE = 1;

/** Moves this process, which is the client, to the core of upstream and client. */
export const pinClient = (): void => {
  if (isPinned) spawnSync('taskset', ['-a', '-c', '-p', String(CLIENT_CORE), String(process.pid)]);
};

const children: ChildProcess[] = [];

export interface LaunchOptions {
  readonly core: number;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the root of the repository. */
  readonly cwd?: string;
}

/** Starts a program, for a peer whose output is not read. */
export const launch = (command: readonly string[], { core, env, cwd = root }: LaunchOptions): ChildProcess =>
  spawned(command, { core, ...(env ? { env } : {}), cwd }, 'ignore');

const spawned = (command: readonly string[], { core, env, cwd }: LaunchOptions, output: 'ignore' | 'pipe') => {
  const [program = '', ...args] = isPinned ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output === 'pipe' ? 'inherit' : 'ignore'],
  });
  children.push(child);
  return child;
};

export interface Started {
  readonly child: ChildProcess;
  readonly lines: Interface;
  /** The line that matched `ready`. */
  readonly line: string;
  readonly readyMs: number;
}

/** Starts Node with `args`. Resolves at the first line of its output that matches. Throws an Error if it ends before. */
export const startNode = async (args: readonly string[], options: LaunchOptions, ready = /./): Promise<Started> => {
  const startedAt = performance.now();
  const child = spawned([process.execPath, ...args], { cwd: root, ...options }, 'pipe');
  if (child.stdout === null) throw new Error('The output is not piped.');
  const lines = createInterface(child.stdout);
  const line = await new Promise<string>((resolve, reject) => {
    lines.on('line', (text) => ready.test(text) && resolve(text));
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended before it was ready.`)));
  });
  return { child, lines, line, readyMs: performance.now() - startedAt };
};

/** Ends every program that was started. */
export const stopAll = (): void => {
  for (const child of children) child.kill();
};

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of the process and of its children that have ended. */
  readonly ticks: number;
}

/** Parses `/proc/<pid>/stat`. The name of the program, in parentheses, may contain spaces. */
export const parseStat = (text: string): ProcessStat => {
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const [utime, stime, childUtime, childStime] = fields.slice(11, 15).map(Number);
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(fields[1]),
    ticks: (utime ?? 0) + (stime ?? 0) + (childUtime ?? 0) + (childStime ?? 0),
  };
};

/** A process and all its descendants. Empty if the process has ended. */
export const treeOf = (pid: number, all: readonly ProcessStat[]): readonly ProcessStat[] => {
  const self = all.find((one) => one.pid === pid);
  if (self === undefined) return [];
  return [self, ...all.filter(({ parent }) => parent === pid).flatMap((child) => treeOf(child.pid, all))];
};

const readProc = (path: string): string => {
  try {
    return readFileSync(join('/proc', path), 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
};

const toMs = (ticks: number): number => {
  ticksPerSecond ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return (ticks * 1_000) / ticksPerSecond;
};
let ticksPerSecond = 0;

/** CPU time and resident memory of a process and its descendants. Linux only. */
export const statOf = (pid: number): { readonly cpuMs: number; readonly rssMb: number } => {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = pids
    .map((name) => readProc(`${name}/stat`))
    .filter((text) => text !== '')
    .map(parseStat);
  const tree = treeOf(pid, stats);
  if (tree.length === 0) throw new Error(`The process ${pid} has ended.`);
  const rssKb = tree.map((one) => Number(/VmRSS:\s+(\d+)/.exec(readProc(`${one.pid}/status`))?.[1] ?? 0));
  return { cpuMs: toMs(sum(tree.map(({ ticks }) => ticks))), rssMb: sum(rssKb) / 1_024 };
};

/**
 * Ticks that the two cores of a benchmark were in use, from `/proc/stat`. Interrupts are left out, because they belong to
 * no process. Time that another virtual machine took is included.
 */
export const busyTicks = (text: string): number =>
  sum(
    [PROGRAM_CORE, CLIENT_CORE].map((core) => {
      const [, line = ''] = new RegExp(`^cpu${core} (.*)$`, 'm').exec(text) ?? [];
      const [user = 0, nice = 0, system = 0, , , , , steal = 0] = line.split(' ').map(Number);
      return user + nice + system + steal;
    }),
  );

/** Returns a function that returns the share of both cores that other processes have used since. */
export const watchOthers = (pids: readonly number[]): (() => number) => {
  const usage = () => {
    const { user, system } = process.cpuUsage();
    const own = sum(pids.map((pid) => statOf(pid).cpuMs)) + (user + system) / 1_000;
    return { others: toMs(busyTicks(readProc('stat'))) - own, atMs: performance.now() };
  };
  const before = usage();
  return () => {
    const after = usage();
    return Math.max(0, (after.others - before.others) / (after.atMs - before.atMs) / 2);
  };
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export interface Target {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export const toTarget = (port: number | string, key = 'bench', headers: Target['headers'] = {}): Target => ({
  port: Number(port),
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
});

const chat = { model: 'gpt-4.1-mini', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello' }] };
export const plainBody = JSON.stringify(chat);
/** The upstream responds with a stream of 100 events. */
export const streamBody = JSON.stringify({ ...chat, stream: true });

export interface Response {
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** The last two pieces of the body. */
  readonly end: string;
}

export interface Client {
  /** Throws an Error unless the response is 200 and complete. */
  call(target: Target, body: string): Promise<Response>;
  /** Sends a number of requests at the concurrency of the client. Returns requests per second. */
  load(target: Target, body: string, requests: number): Promise<number>;
  /** Sends requests for some time. Returns their number and their rate. */
  loadFor(target: Target, body: string, ms: number): Promise<{ readonly requests: number; readonly perSecond: number }>;
  close(): void;
}

export const createClient = (concurrency: number): Client => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
  const call: Client['call'] = ({ port, headers }, body) =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const options = { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions' };
      const request = http.request(
        { ...options, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
        (response) => {
          let firstByteMs = 0;
          let end: readonly Buffer[] = [];
          response.on('data', (piece: Buffer) => {
            firstByteMs ||= performance.now() - startedAt;
            end = [...end.slice(-1), piece];
          });
          response.on('error', reject);
          response.on('end', () => {
            const totalMs = performance.now() - startedAt;
            if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
            else resolve({ firstByteMs, totalMs, end: Buffer.concat(end).toString() });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  const loadWhile = async (target: Target, body: string, hasMore: () => boolean) => {
    const startedAt = performance.now();
    let requests = 0;
    const connection = async (): Promise<void> => {
      while (hasMore()) {
        await call(target, body);
        requests += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, connection));
    return { requests, perSecond: (requests * 1_000) / (performance.now() - startedAt) };
  };
  return {
    call,
    load: async (target, body, requests) => {
      let left = requests;
      return (await loadWhile(target, body, () => left-- > 0)).perSecond;
    },
    loadFor: (target, body, ms) => {
      const endsAt = performance.now() + ms;
      return loadWhile(target, body, () => performance.now() < endsAt);
    },
    close: () => agent.destroy(),
  };
};

/** Uses a client for one measurement, so that no connection is idle for longer than a server keeps it. */
export const withClient = async <Result>(
  concurrency: number,
  use: (client: Client) => Promise<Result>,
): Promise<Result> => {
  const client = createClient(concurrency);
  try {
    return await use(client);
  } finally {
    client.close();
  }
};

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  /** CPU time of the program per request, in microseconds. */
  readonly cpuUs: number;
}

/**
 * Time in ms of load before each measurement. After a pause of seconds, or another kind of request, a program uses up to
 * twice the CPU per request for this time, because its code and data are no longer in the caches.
 */
const RAMP_MS = 800;

/** Windows of each program in `measureLoads`. */
const WINDOWS = 4;

interface Measured {
  readonly pid: number;
  readonly target: Target;
}

const measureWindow = async ({ pid, target }: Measured, client: Client, body: string, ms: number): Promise<Load> => {
  const before = statOf(pid).cpuMs;
  const { requests, perSecond } = await client.loadFor(target, body, ms);
  return { requests, perSecond, cpuUs: ((statOf(pid).cpuMs - before) * 1_000) / requests };
};

/**
 * Loads programs at a concurrency of 16, each for `ms`. Their windows alternate. Returns each program's window with the
 * least CPU per request, because a neighbor on the same physical core makes all programs up to 1.8 times slower for some
 * time.
 */
export const measureLoads = async (
  programs: readonly Measured[],
  body: string,
  ms: number,
): Promise<readonly Load[]> => {
  const loaded = programs.map((program) => {
    const windows: Load[] = [];
    return { program, client: createClient(16), windows };
  });
  try {
    for (const { program, client } of loaded) await client.loadFor(program.target, body, RAMP_MS);
    for (let window = 0; window < WINDOWS; window += 1)
      for (const { program, client, windows } of loaded)
        windows.push(await measureWindow(program, client, body, ms / WINDOWS));
  } finally {
    for (const { client } of loaded) client.close();
  }
  return loaded.map(({ windows }) => windows.reduce((least, one) => (one.cpuUs < least.cpuUs ? one : least)));
};

/** Loads one program at a concurrency of 16 for `ms`. */
export const measureLoad = (program: Measured, body: string, ms: number): Promise<Load> =>
  withClient(16, async (client) => {
    await client.loadFor(program.target, body, RAMP_MS);
    return measureWindow(program, client, body, ms);
  });

/** Time that a program adds to each request, in ms: each is sent straight to the upstream and through the program. */
export const measureAdded = (direct: Target, through: Target, body: string, ms: number): Promise<readonly number[]> =>
  withClient(1, async (client) => {
    const added: number[] = [];
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
      const before = await client.call(direct, body);
      added.push((await client.call(through, body)).totalMs - before.totalMs);
    }
    return added;
  });

/** Resolves when a program responds to a chat completion with 200. Throws an Error if it ends or takes too long. */
export const untilReady = async (child: ChildProcess, target: Target, limitMs: number): Promise<void> => {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const problem = await withClient(1, (client) => client.call(target, plainBody)).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem === undefined) return;
    if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}.`);
    if (performance.now() > endsAt) throw new Error(`The program is not ready after ${limitMs / 1_000} s: ${problem}`);
    await sleep(200);
  }
};

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN;

/** Returns the mean of the middle two for an even number of values. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
};
