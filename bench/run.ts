import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * Sends each request twice, directly to the upstream and through the gateway, so that other load on the machine affects
 * both. With `taskset`, the gateway has its own core. Also compares a key with a cap with one without, and a gateway
 * that exports traces with one that does not.
 */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 2_000);
const WARM_UP = 300;

const children: ChildProcess[] = [];
const pinned = spawnSync('taskset', ['--version']).status === 0;

interface Started {
  readonly child: ChildProcess;
  readonly lines: Interface;
  readonly line: string;
}

const start = async (file: string, core: number, environment: Record<string, string>): Promise<Started> => {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const command = pinned ? ['taskset', '-c', String(core), process.execPath, path] : [process.execPath, path];
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface(child.stdout);
  const [line] = await once(lines, 'line');
  return { child, lines, line: String(line) };
};

interface Target {
  readonly port: number;
  readonly key: string;
}

interface Times {
  readonly firstByteMs: number;
  readonly totalMs: number;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

const call = ({ port, key }: Target, body: string): Promise<Times> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        let firstByteMs = 0;
        response.on('data', () => {
          firstByteMs ||= performance.now() - began;
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve({ firstByteMs, totalMs: performance.now() - began });
          else reject(new Error(`status ${response.statusCode}`));
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN;

const row = (name: string, direct: readonly number[], through: readonly number[]): string => {
  const added = through.map((value, index) => value - (direct[index] ?? 0));
  const ms = (values: readonly number[], share: number) => quantile(values, share).toFixed(3).padStart(8);
  const ratio = (quantile(through, 0.5) / quantile(direct, 0.5)).toFixed(2).padStart(6);
  return `${name.padEnd(28)}${ms(direct, 0.5)}${ms(through, 0.5)}${ms(added, 0.5)}${ms(added, 0.95)}${ratio}`;
};

const compare = async (name: string, direct: Target, through: Target, body: string): Promise<void> => {
  const pairs: [Times, Times][] = [];
  for (let index = 0; index < WARM_UP + PAIRS; index += 1) {
    const pair: [Times, Times] = [await call(direct, body), await call(through, body)];
    if (index >= WARM_UP) pairs.push(pair);
  }
  const of = (which: 0 | 1, time: keyof Times) => pairs.map((pair) => pair[which][time]);
  console.log(row(`${name}, first byte`, of(0, 'firstByteMs'), of(1, 'firstByteMs')));
  console.log(row(`${name}, whole`, of(0, 'totalMs'), of(1, 'totalMs')));
};

const TRIPS_OF = 100;

/** Returns the calls of the ledger and the API keys per request. */
const tripsOf = async ({ child, lines }: Started, target: Target, body: string): Promise<number> => {
  const count = async (): Promise<number> => {
    const line = once(lines, 'line');
    child.kill('SIGUSR2');
    return Number((await line)[0]);
  };
  const before = await count();
  for (let index = 0; index < TRIPS_OF; index += 1) await call(target, body);
  return ((await count()) - before) / TRIPS_OF;
};

try {
  const upstream: Target = { port: Number((await start('upstream.ts', 1, {})).line), key: 'bench' };
  const program = await start('gateway.ts', 0, { BENCH_UPSTREAM_PORT: String(upstream.port) });
  const [port, key = '', cappedKey = ''] = program.line.split(' ');
  const gateway: Target = { port: Number(port), key };
  const capped: Target = { port: Number(port), key: cappedKey };
  const traced = async (): Promise<Target> => {
    const BENCH_COLLECTOR = `http://127.0.0.1:${(await start('upstream.ts', 1, {})).line}`;
    const { line } = await start('gateway.ts', 0, { BENCH_UPSTREAM_PORT: String(upstream.port), BENCH_COLLECTOR });
    const [other, otherKey = ''] = line.split(' ');
    return { port: Number(other), key: otherKey };
  };
  const body = { model: 'gpt-4.1-mini', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello' }] };
  console.log(
    `${PAIRS} pairs at concurrency 1, milliseconds${pinned ? ', the gateway on one core' : ' (no taskset: not pinned)'}`,
  );
  console.log(`${''.padEnd(28)}  direct gateway   added  added95 ratio`);
  await compare('plain', upstream, gateway, JSON.stringify(body));
  await compare('100 events', upstream, gateway, JSON.stringify({ ...body, stream: true }));
  console.log(`${''.padEnd(28)}  no cap     cap   added  added95 ratio`);
  await compare('key with a cap', gateway, capped, JSON.stringify(body));
  const [without, withCap] = [
    await tripsOf(program, gateway, JSON.stringify(body)),
    await tripsOf(program, capped, JSON.stringify(body)),
  ];
  console.log(`store calls per request: ${without} without a cap, ${withCap} with a cap`);
  console.log(`${''.padEnd(28)}     off  traced   added  added95 ratio`);
  const other = await traced();
  await compare('traces, plain', gateway, other, JSON.stringify(body));
  await compare('traces, 100 events', gateway, other, JSON.stringify({ ...body, stream: true }));
} finally {
  agent.destroy();
  for (const child of children) child.kill();
}
