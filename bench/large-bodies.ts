import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { BODY_BYTES_MAX, BODY_PARTS_MAX } from '../lambdas/limits.ts';
import { startHostileProcess } from '../test/support/hostile-process.ts';

/**
 * Measures the requests of one account while others without a balance send the bodies that take the longest to parse:
 * `ATTACKERS=4 SECONDS=10 BODY=numbers npx node bench/large-bodies.ts`. All use one client IP, and stay within its rate
 * limit. The gateway runs in its own process with the flags of `npm start`.
 */
const attackers = Number(process.env.ATTACKERS ?? 4);
const seconds = Number(process.env.SECONDS ?? 10);
const ATTACKS_PER_SECOND = 20;
const STRANGER_PAUSE_MS = 120;
/** Parts that every body has. */
const OTHER_PARTS = 60;

const head = (model: string): string =>
  `{"model":"${model}","max_tokens":16,"messages":[{"role":"user","content":"hi"}]`;

/** A body of 20 MiB with as many items as fit, or as many as given. */
const listOf = (
  model: string,
  item: string,
  itemsMax = Number.POSITIVE_INFINITY,
  before = ',"ignored":[0',
  after = ']}',
) => {
  const room = BODY_BYTES_MAX - head(model).length - before.length - after.length;
  return Buffer.from(
    head(model) +
      before +
      `,${item}`.repeat(Math.min(itemsMax, Math.floor(room / Buffer.byteLength(`,${item}`)))) +
      after,
  );
};

const textOf = (model: string, piece: string): Buffer => {
  const [before, after] = [`{"model":"${model}","max_tokens":16,"messages":[{"role":"user","content":"`, '"}]}'];
  const room = BODY_BYTES_MAX - before.length - after.length;
  return Buffer.from(before + piece.repeat(Math.floor(room / Buffer.byteLength(piece))) + after);
};

const names = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}_":0`).join();

const most = BODY_PARTS_MAX - OTHER_PARTS;
const bodies: Readonly<Record<string, (model: string) => Buffer>> = {
  'names of members': (model) => Buffer.from(`${head(model)},"ignored":{${names(Math.min(most, 900_000))}}}`),
  'objects, and a text': (model) =>
    listOf(model, '{}', most, ',"user":"u","ignored":[0', `],"other":"${'a'.repeat(10_000_000)}"}`),
  'names of properties of a tool': (model) =>
    Buffer.from(
      `${head(model)},"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{${Array.from({ length: Math.min(most, 99_000) / 3 }, (_, index) => `"p${index.toString(36)}":{"type":"string"}`).join()}}}}}]}`,
    ),
  '10,000 messages with an unknown field': (model) => {
    const text = head(model).slice(0, -1);
    return Buffer.from(`${text}${',{"role":"user","content":"hi","more":1}'.repeat(9_990)}]}`);
  },
  '10,000 unknown fields with long names': (model) =>
    Buffer.from(
      `${head(model)},${Array.from({ length: 9_990 }, (_, index) => `"${'n'.repeat(2_000)}${index}":0`).join()}}`,
    ),
  digits: (model) => listOf(model, '0'),
  'long numbers': (model) => listOf(model, '0.12345678901234567'),
  'empty strings': (model) => listOf(model, '""'),
  'different strings': (model) => {
    const strings: string[] = [];
    for (let left = BODY_BYTES_MAX - 200, index = 0; left > 0; index += 1) {
      const string = `"${index.toString(36)}"`;
      left -= string.length + 1;
      strings.push(string);
    }
    return Buffer.from(`${head(model)},"ignored":[${strings.slice(0, -1).join()}]}`);
  },
  'stop sequences': (model) => listOf(model, '"a"', Number.POSITIVE_INFINITY, ',"stop":["a"'),
  space: (model) => listOf(model, '    0'),
  'a text of escapes': (model) => textOf(model, '\\n'),
  'a text of escaped quotes': (model) => textOf(model, '\\"'),
  'a text of emoji': (model) => textOf(model, '😀'),
  'a text of spaces': (model) => textOf(model, ' '),
  'an end that is missing': (model) => listOf(model, '0', Number.POSITIVE_INFINITY, ',"ignored":[0', '] '),
};

const send = (port: number, apiKey: string, body: Buffer, agent: http.Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const options = { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions', headers };
    const request = http.request(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body);
  });

const attackSchema = z.object({ port: z.number(), keys: z.array(z.string()), names: z.array(z.string()) });

/** Sends the bodies in a loop on each connection. Each attacker has its own account. */
const attack = async (): Promise<void> => {
  const { port, keys, names } = attackSchema.parse(workerData);
  // Half of them name a model that does not exist.
  const sent = names.flatMap((name) => ['gpt-5.4', 'nope'].map((model) => bodies[name]?.(model) ?? Buffer.alloc(0)));
  parentPort?.postMessage('ready');
  const untilMs = Date.now() + seconds * 1_000;
  const statuses = new Map<number, number>();
  await Promise.all(
    keys.map(async (apiKey, offset) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      for (let turn = offset; Date.now() < untilMs; turn += 1) {
        const paced = sleep((1_000 * keys.length) / ATTACKS_PER_SECOND);
        const status = await send(port, apiKey, sent[turn % sent.length] ?? Buffer.alloc(0), agent).catch(() => 0);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await paced;
      }
      agent.destroy();
    }),
  );
  console.log(`    attackers: ${[...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}`);
};

const measure = async (): Promise<void> => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const limits = {
    LIMIT_ADDRESS_PER_SECOND: '30',
    LIMIT_ADDRESS_BURST: '60',
    LIMIT_KEY_PER_SECOND: '10',
    LIMIT_KEY_BURST: '15',
  };
  const gateway = await startHostileProcess(
    limits,
    scripts.start.split(' ').filter((word) => word.startsWith('--')),
  );
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const small = Buffer.from(`${head('gpt-5.4')}}`);
  const stranger = async (untilMs: number): Promise<readonly number[]> => {
    const times: number[] = [];
    while (Date.now() < untilMs) {
      const startedAt = performance.now();
      const status = await send(gateway.port, gateway.apiKey, small, agent);
      if (status !== 200) throw new Error(`status ${status}`);
      times.push(performance.now() - startedAt);
      await sleep(STRANGER_PAUSE_MS);
    }
    return times.toSorted((one, other) => one - other);
  };
  const show = (name: string, times: readonly number[]): void => {
    const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0).padStart(7);
    console.log(`${name.padEnd(40)}${at(0.5)}${at(0.99)}${at(1)}${String(times.length).padStart(7)}`);
  };
  try {
    const keys = await Promise.all(Array.from({ length: attackers }, () => gateway.issue('0')));
    await stranger(Date.now() + 3_000);
    console.log(`${'ms'.padEnd(40)}    p50    p99    max    sent`);
    show('quiet', await stranger(Date.now() + seconds * 1_000));
    const chosen = Object.keys(bodies).filter((name) => name.includes(process.env.BODY ?? ''));
    for (const names of [...chosen.map((name) => [name]), ...(chosen.length > 1 ? [chosen] : [])]) {
      const worker = new Worker(new URL(import.meta.url), { workerData: { port: gateway.port, keys, names } });
      const ended = once(worker, 'exit');
      await once(worker, 'message');
      const times = await stranger(Date.now() + seconds * 1_000);
      await ended;
      show(names.length > 1 ? 'all of them in turn' : names.join(), times);
    }
  } finally {
    agent.destroy();
    await gateway.stop();
  }
};

await (isMainThread ? measure() : attack());
