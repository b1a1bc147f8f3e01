import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Compares `npm start` on embedded stores with the same handlers on in-memory stores (`gateway.ts`). Rounds of the two
 * alternate, so that the ratio is valid on a busy machine. With `taskset`, the gateway has its own core. CPU and memory
 * come from /proc, so those rows need Linux.
 */
const CONCURRENCY = 16;
const ROUND = Number(process.env.BENCH_ROUND ?? 2_500);
/** Requests before the last measurement of CPU per request. */
const LONG = Number(process.env.BENCH_REQUESTS ?? 100_000);

const root = join(import.meta.dirname, '..');
const children: ChildProcess[] = [];
const pinned = spawnSync('taskset', ['--version']).status === 0;

interface Started {
  readonly child: ChildProcess;
  readonly line: string;
  readonly readyMs: number;
}

const start = async (
  args: readonly string[],
  core: number,
  environment: Record<string, string>,
  ready: RegExp,
): Promise<Started> => {
  const command = [...(pinned ? ['taskset', '-c', String(core)] : []), process.execPath, ...args];
  const began = performance.now();
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface(child.stdout)) {
    if (!ready.test(line)) continue;
    child.stdout.resume();
    return { child, line, readyMs: performance.now() - began };
  }
  throw new Error(`${args.join(' ')} ended before it was ready.`);
};

const statOf = ({ child }: Started) => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return { cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond, rssMb: Number(rss) / 1_024 };
};

interface Target {
  readonly port: number;
  readonly key: string;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY });

/** Resolves with the time to the first byte, in ms. Throws an Error unless the response is 200 and complete. */
const call = ({ port, key }: Target, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(body) };
    const request = http.request(
      { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions', headers },
      (response) => {
        let firstByteMs = 0;
        response.on('data', () => {
          firstByteMs ||= performance.now() - began;
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve(firstByteMs);
          else reject(new Error(`status ${response.statusCode}`));
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });

/** Sends requests at CONCURRENCY. Returns requests per second. */
const load = async (target: Target, body: string, requests: number): Promise<number> => {
  let left = requests;
  const began = performance.now();
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(target, body);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  return (requests * 1_000) / (performance.now() - began);
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const print = (name: string, value: string, aim: string): void =>
  console.log(`${name.padEnd(52)}${value.padStart(14)}   ${aim}`);

const pairs = async (name: string, [local, stubbed]: readonly [Target, Target], body: string, aim: string) => {
  const rates: [number, number][] = [];
  for (let round = 0; round < 5; round += 1) {
    rates.push([await load(local, body, ROUND), await load(stubbed, body, ROUND)]);
  }
  const ratio = median(rates.map(([one, other]) => one / other)).toFixed(2);
  print(name, median(rates.map(([one]) => one)).toFixed(0), `${aim}; ${ratio} of in-memory stores`);
};

const firstByteAdded = async (local: Target, upstream: Target, body: string): Promise<number> => {
  const added: number[] = [];
  for (let index = 0; index < 1_500; index += 1) {
    const direct = await call(upstream, body);
    const through = await call(local, body);
    if (index >= 300) added.push(through - direct);
  }
  return median(added);
};

const cpuPerRequest = async (gateway: Started, target: Target, body: string, requests: number): Promise<number> => {
  const before = statOf(gateway).cpuMs;
  await load(target, body, requests);
  return (statOf(gateway).cpuMs - before) / requests;
};

const folder = mkdtempSync(join(tmpdir(), 'bench-local-'));
const many = '1000000';
try {
  const upstream = await start(['bench/upstream.ts'], 1, {}, /^\d+$/);
  const vendor: Target = { port: Number(upstream.line), key: 'bench' };
  const environment = {
    ...{ PORT: '0', DATA_DIR: join(folder, 'data'), LOCAL_BALANCE_USD: '100000' },
    ...{ OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1` },
    ...{ LIMIT_KEY_PER_SECOND: many, LIMIT_KEY_BURST: many, LIMIT_ADDRESS_PER_SECOND: many, LIMIT_ADDRESS_BURST: many },
  };
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const program = String(scripts.start).split(' ').slice(1);
  const flags = program.filter((word) => word.startsWith('--'));
  const first = await start(program, 0, environment, /^ready /);
  first.child.kill('SIGTERM');
  await once(first.child, 'exit');
  const gateway = await start(program, 0, environment, /^ready /);
  print('Start, warm, ms', gateway.readyMs.toFixed(0), 'at most 1500');
  const key = readFileSync(join(folder, 'data/secrets/api-key'), 'utf8');
  const local: Target = { port: Number(new URL(gateway.line.slice('ready '.length)).port), key };
  await sleep(3_000);
  const idle = statOf(gateway);
  await sleep(10_000);
  const later = statOf(gateway);
  print('CPU at idle, %', ((later.cpuMs - idle.cpuMs) / 100).toFixed(1), 'below 1');
  print('Memory at idle, MB', later.rssMb.toFixed(0), 'below 150');

  const memory = await start([...flags, 'bench/gateway.ts'], 0, { BENCH_UPSTREAM_PORT: String(vendor.port) }, /^\d+ /);
  const [port, stubbedKey = ''] = memory.line.split(' ');
  const stubbed: Target = { port: Number(port), key: stubbedKey };
  const chat = { model: 'gpt-4.1-mini', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello' }] };
  const [plain, stream] = [JSON.stringify(chat), JSON.stringify({ ...chat, stream: true })];
  await load(local, plain, 2_500);
  await load(stubbed, plain, 2_500);
  print('First byte added at concurrency 1, ms', (await firstByteAdded(local, vendor, stream)).toFixed(2), 'at most 3');
  const early = await cpuPerRequest(gateway, local, plain, 5_000);
  await pairs('Plain chats at concurrency 16, per second', [local, stubbed], plain, 'at least 600');
  await pairs('Streams of 100 events at concurrency 16, per second', [local, stubbed], stream, 'at least 300');
  print('Memory after 30,000 requests, MB', statOf(gateway).rssMb.toFixed(0), 'below 200');
  print('Memory on in-memory stores, MB', statOf(memory).rssMb.toFixed(0), 'below 190');
  await load(local, plain, Math.max(0, LONG - 40_000));
  const late = await cpuPerRequest(gateway, local, plain, 5_000);
  print(`CPU per request, early and after ${LONG}, ms`, `${early.toFixed(3)} ${late.toFixed(3)}`, 'ratio at most 1.1');
  print('Ratio', (late / early).toFixed(2), '');
  print('Memory at the end, MB', statOf(gateway).rssMb.toFixed(0), '');
} finally {
  agent.destroy();
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
