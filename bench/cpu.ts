import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Measures CPU time per request and requests per second of the gateway on one core, with stubbed stores. The client and
 * the provider use the other core. With `BENCH_BASE`, the folder of another checkout, rounds alternate between both
 * gateways, so that other load on the machine affects both. Needs Linux.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 2_000);
const WARM_UP_ROUNDS = 2;
const GATEWAY_CORE = '0';
const OTHER_CORE = '1';

const children: ChildProcess[] = [];

const start = async (folder: string, file: string, core: string, environment: Record<string, string>) => {
  const command = ['-c', core, process.execPath, ...(process.env.BENCH_NODE_ARGS?.split(' ') ?? [])];
  const child = spawn('taskset', [...command, join(folder, 'bench', file)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(createInterface(child.stdout), 'line');
  return { pid: child.pid ?? 0, words: String(line).split(' ') };
};

interface Gateway {
  readonly pid: number;
  readonly port: number;
  readonly key: string;
}

/**
 * Returns the CPU time of all threads of a process in microseconds. The first field is in nanoseconds:
 * https://docs.kernel.org/scheduler/sched-stats.html
 */
const cpuMicrosOf = (pid: number): number => {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'),
  );
  return threads.reduce((sum, fields) => sum + Number(fields.split(' ')[0]) / 1_000, 0);
};

const agent = new http.Agent({ keepAlive: true });

const call = ({ port, key }: Gateway, body: string): Promise<void> =>
  new Promise((resolveCall, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const options = { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions', headers };
    const request = http.request(options, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolveCall();
        else reject(new Error(`status ${response.statusCode}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });

interface Load {
  readonly title: string;
  readonly concurrency: number;
  readonly requests: number;
  readonly body: string;
}

interface Figures {
  readonly cpuUs: number;
  readonly perSecond: number;
}

const run = async (gateway: Gateway, { concurrency, requests, body }: Load): Promise<Figures> => {
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(gateway, body);
    }
  };
  const cpuBefore = cpuMicrosOf(gateway.pid);
  const beganAtMs = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - beganAtMs) / 1_000;
  return {
    cpuUs: (cpuMicrosOf(gateway.pid) - cpuBefore) / requests,
    perSecond: requests / seconds,
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const compare = async (gateways: readonly Gateway[], load: Load): Promise<void> => {
  const rounds: Figures[][] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const figures: Figures[] = [];
    const order = gateways.map((_, index) => (round % 2 === 0 ? index : gateways.length - 1 - index));
    for (const index of order) {
      const gateway = gateways[index];
      if (gateway) figures[index] = await run(gateway, load);
    }
    if (round >= WARM_UP_ROUNDS) rounds.push(figures);
  }
  const of = (index: number, name: keyof Figures) => rounds.map((figures) => figures[index]?.[name] ?? Number.NaN);
  const [cpu, cpuOfBase] = [of(0, 'cpuUs'), of(1, 'cpuUs')];
  const cells = [median(cpu).toFixed(0), median(of(0, 'perSecond')).toFixed(0)];
  if (gateways.length > 1) {
    const ratios = cpu.map((value, index) => value / (cpuOfBase[index] ?? Number.NaN));
    cells.push(median(cpuOfBase).toFixed(0), median(of(1, 'perSecond')).toFixed(0), median(ratios).toFixed(3));
  }
  console.log(`${load.title.padEnd(32)}${cells.map((cell) => cell.padStart(10)).join('')}`);
};

const chat = { model: 'gpt-4.1-mini', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello' }] };

const loads: readonly Load[] = [
  { title: 'plain, concurrency 16', concurrency: 16, requests: REQUESTS, body: JSON.stringify(chat) },
  {
    title: '100 events, concurrency 8',
    concurrency: 8,
    requests: REQUESTS,
    body: JSON.stringify({ ...chat, stream: true }),
  },
];

try {
  spawnSync('taskset', ['-cp', OTHER_CORE, String(process.pid)]);
  const own = resolve(import.meta.dirname, '..');
  const folders = [own, ...(process.env.BENCH_BASE ? [resolve(process.env.BENCH_BASE)] : [])];
  const upstream = await start(own, 'upstream.ts', OTHER_CORE, {});
  const gateways: Gateway[] = [];
  for (const folder of folders) {
    const environment = { BENCH_UPSTREAM_PORT: upstream.words[0] ?? '' };
    const { pid, words } = await start(folder, 'gateway.ts', GATEWAY_CORE, environment);
    gateways.push({ pid, port: Number(words[0]), key: words[1] ?? '' });
  }
  console.log(`${ROUNDS} rounds of ${REQUESTS} requests, median CPU in microseconds per request, requests per second`);
  const titles = ['CPU', 'per s', ...(gateways.length > 1 ? ['base CPU', 'per s', 'CPU ratio'] : [])];
  console.log(`${''.padEnd(32)}${titles.map((title) => title.padStart(10)).join('')}`);
  for (const load of loads.filter(({ title }) => title.includes(process.env.BENCH_ONLY ?? '')))
    await compare(gateways, load);
} finally {
  agent.destroy();
  for (const child of children) child.kill();
}
