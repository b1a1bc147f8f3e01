import { once } from 'node:events';
import {
  createClient,
  isPinned,
  plainBody,
  quantile,
  type Response,
  type Started,
  stopAll,
  streamBody,
  type Target,
  withClient,
} from './measure.ts';
import { startGateway, startUpstream } from './programs.ts';

/**
 * Sends each request twice, directly to the upstream and through the gateway, so that other load on the machine affects
 * both. With `taskset`, the gateway has its own core. Also compares a key with a cap with one without, and a gateway
 * that exports traces with one that does not.
 */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 2_000);
const WARM_UP = 300;
/** Requests before the pairs, during which V8 optimizes the code of the gateway. */
const WARM_UP_LOAD = { plain: 20_000, streams: 3_000 } as const;

const client = createClient(1);

const row = (name: string, direct: readonly number[], through: readonly number[]): string => {
  const added = through.map((value, index) => value - (direct[index] ?? 0));
  const ms = (values: readonly number[], share: number) => quantile(values, share).toFixed(3).padStart(8);
  const ratio = (quantile(through, 0.5) / quantile(direct, 0.5)).toFixed(2).padStart(6);
  return `${name.padEnd(28)}${ms(direct, 0.5)}${ms(through, 0.5)}${ms(added, 0.5)}${ms(added, 0.95)}${ratio}`;
};

const compare = async (name: string, direct: Target, through: Target, body: string): Promise<void> => {
  const pairs: [Response, Response][] = [];
  for (let index = 0; index < WARM_UP + PAIRS; index += 1) {
    const pair: [Response, Response] = [await client.call(direct, body), await client.call(through, body)];
    if (index >= WARM_UP) pairs.push(pair);
  }
  const of = (which: 0 | 1, time: 'firstByteMs' | 'totalMs') => pairs.map((pair) => pair[which][time]);
  console.log(row(`${name}, first byte`, of(0, 'firstByteMs'), of(1, 'firstByteMs')));
  console.log(row(`${name}, whole`, of(0, 'totalMs'), of(1, 'totalMs')));
};

const warmUp = (target: Target): Promise<void> =>
  withClient(16, async (warm) => {
    await warm.load(target, plainBody, WARM_UP_LOAD.plain);
    await warm.load(target, streamBody, WARM_UP_LOAD.streams);
  });

const TRIPS_OF = 100;

/** Returns the calls of the ledger and the API keys per request. */
const tripsOf = async ({ child, lines }: Started, target: Target, body: string): Promise<number> => {
  const count = async (): Promise<number> => {
    const line = once(lines, 'line');
    child.kill('SIGUSR2');
    return Number((await line)[0]);
  };
  const before = await count();
  for (let index = 0; index < TRIPS_OF; index += 1) await client.call(target, body);
  return ((await count()) - before) / TRIPS_OF;
};

try {
  const { target: upstream } = await startUpstream();
  const { started: program, target: gateway, capped } = await startGateway(upstream);
  console.log(
    `${PAIRS} pairs at concurrency 1, milliseconds${isPinned ? ', the gateway on one core' : ' (no taskset: not pinned)'}`,
  );
  console.log(`${''.padEnd(28)}  direct gateway   added  added95 ratio`);
  await warmUp(gateway);
  await compare('plain', upstream, gateway, plainBody);
  await compare('100 events', upstream, gateway, streamBody);
  console.log(`${''.padEnd(28)}  no cap     cap   added  added95 ratio`);
  await compare('key with a cap', gateway, capped, plainBody);
  const [without, withCap] = [await tripsOf(program, gateway, plainBody), await tripsOf(program, capped, plainBody)];
  console.log(`store calls per request: ${without} without a cap, ${withCap} with a cap`);
  console.log(`${''.padEnd(28)}     off  traced   added  added95 ratio`);
  const { target: collector } = await startUpstream();
  const { target: other } = await startGateway(upstream, { BENCH_COLLECTOR: `http://127.0.0.1:${collector.port}` });
  await warmUp(other);
  await compare('traces, plain', gateway, other, plainBody);
  await compare('traces, 100 events', gateway, other, streamBody);
} finally {
  client.close();
  stopAll();
}
