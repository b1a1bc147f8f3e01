import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../lambdas/functions/wiring/ledger.ts';
import type { Simulator } from '../../../local/simulators/server.ts';
import { dynamodbWire, type StoreWire, s3Wire, type Wanted } from '../../support/fault-proxy-wire.ts';
import { type Environment, until } from '../../support/gateway-process.ts';
import { MemoryOutbox } from '../../support/memory/memory-outbox.ts';
import type { TestProgram } from '../../support/program.ts';
import type { GroupAccount, ServerGroup } from '../../support/server-group.ts';
import { sweep } from '../../support/strict-tending.ts';
import { postUntilDeath, type Received } from '../kill/client.ts';
import { type StopPlan, startKillProxy } from '../kill/proxy.ts';
import { callName } from '../kill/scenarios.ts';
import { VIDEO_MODEL } from './customer.ts';

/**
 * When the call is executed at which a server is killed: `never`, `early` (when the next server has started), `late`
 * (after everything else), or `done` (before the kill).
 */
export type Side = 'never' | 'early' | 'late' | 'done';

export interface VideoPoint {
  readonly name: string;
  /** Index of the call among the calls with this name, from 0. */
  readonly turn: number;
  readonly side: Side;
}

/** A video with its own account, whose server is killed at its point. */
export interface VideoRound {
  readonly account: GroupAccount;
  readonly prompt: string;
  readonly point: VideoPoint;
  readonly names: string[];
  videoId: string | undefined;
  met: boolean;
  received: Received | undefined;
}

export const VENDOR = 'vendor POST';

export const newVideoRound = (account: GroupAccount, markers: string, point: VideoPoint): VideoRound => ({
  ...{ account, point, names: [], videoId: undefined, met: false, received: undefined },
  prompt: `for ${account.accountId} alone ${markers}`,
});

export const describeRound = ({ account, point: { name, turn, side }, met }: VideoRound): string =>
  `${account.accountId}, killed at ${name} ${turn}, ${side}${met ? '' : ', not met'}`;

export const orderOf = ({ account, prompt }: VideoRound) => ({
  path: '/v1/videos',
  apiKey: account.apiKey,
  body: { model: VIDEO_MODEL, prompt },
  headers: { 'idempotency-key': account.accountId },
});

/** Distinguishes parts of a large file from files that are sent whole. */
const partsWire: StoreWire = {
  ...s3Wire,
  describe(request, body) {
    const wanted = s3Wire.describe(request, body);
    const query = new URL(request.url ?? '', 'http://bucket').searchParams;
    if (query.has('uploads')) return { ...wanted, operation: 'begin parts' };
    if (query.has('partNumber')) return { ...wanted, operation: 'part' };
    return query.has('uploadId') && wanted.operation === 'POST' ? { ...wanted, operation: 'end parts' } : wanted;
  },
};

const changes = [
  ['#upstreamId = :upstreamId', 'setUpstream'],
  ['#refused = :refused', 'refuse'],
  ['if_not_exists(#failure', 'noteFailure'],
  ['#file = :file', 'noteFile'],
  ['SET #state = :inProgress', 'advance'],
  ['SET #state = :state', 'end'],
  ['SET #dueAt', 'postpone'],
] as const;

/** Returns the purpose of a call. Retries have the same name. */
const nameOf = (call: Wanted): string => {
  if (call.table !== 'videos' || call.operation !== 'UpdateItem') return callName(call);
  const text = JSON.stringify(call.body);
  const [, name] = changes.find(([mark]) => text.includes(mark)) ?? [];
  return `videos ${name ?? 'UpdateItem'}`;
};

/** Whether a call belongs to a video. Its job record, which names the account, reveals its id. */
const owns = (round: VideoRound, { table, operation, keys: [key = ''], body }: Wanted): boolean => {
  const { accountId } = round.account;
  if (key.startsWith(`account#${accountId} `) || key.startsWith(`account#${accountId}#`)) return true;
  if (table === 'videos' && operation === 'PutItem' && JSON.stringify(body).includes(`"${accountId}"`)) {
    round.videoId ??= key.replace('video#', '');
  }
  return round.videoId !== undefined && key.includes(round.videoId);
};

interface Life {
  readonly group: ServerGroup;
  readonly vendor: Simulator;
  readonly environment: Environment;
  readonly rounds: readonly VideoRound[];
  /** Time in ms that rounds at their points wait for the others. */
  readonly patienceMs: number;
}

export interface Afterlife {
  /** The next server, on the same folder. */
  readonly server: TestProgram;
  /** Executes the late calls. */
  land(): Promise<void>;
}

/**
 * Starts a server, creates every video, kills the server when all wait at their points, and starts it again on its
 * folder. After its point, no call of a video is executed, so waiting videos cause no effects.
 */
export async function killOnce({ group, vendor, environment, rounds, patienceMs }: Life): Promise<Afterlife> {
  const early = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  let dead = false;
  const plan: StopPlan = (call) => {
    const round = rounds.find((one) => owns(one, call));
    if (!round) return undefined;
    const swallowed = { side: 'before', landing: late.promise, reached: () => undefined } as const;
    if (round.met) return swallowed;
    const name = nameOf(call);
    const turn = round.names.filter((earlier) => earlier === name).length;
    round.names.push(name);
    const { point } = round;
    if (point.name !== name || point.turn !== turn) return undefined;
    round.met = true;
    if (point.side === 'done') return { ...swallowed, side: 'after' };
    if (point.side === 'never') return swallowed;
    return { ...swallowed, side: 'late', landing: point.side === 'early' ? early.promise : late.promise };
  };
  vendor.setScenario(({ method, body }) => {
    const round = rounds.find(({ prompt }) => method === 'POST' && JSON.stringify(body).includes(prompt));
    if (dead || round?.point.name !== VENDOR) return undefined;
    round.met = true;
    return { hang: true };
  });
  const proxies = await Promise.all([
    startKillProxy(group.databaseUrl, dynamodbWire, plan),
    startKillProxy(group.bucketUrl, partsWire, plan),
  ]);
  const [database, bucket] = proxies;
  const urls = { databaseUrl: database.endpoint, bucketUrl: bucket.endpoint };
  const victim = await group.start({ vendorUrl: vendor.url, ...urls, environment });
  const answers = rounds.map(async (round) => {
    round.received = await postUntilDeath(victim.url, '127.0.0.1', orderOf(round));
  });
  await until('the first that waits', () => rounds.find(({ met }) => met));
  const giveUpAt = Date.now() + patienceMs;
  while (rounds.some(({ met }) => !met) && Date.now() < giveUpAt) await sleep(5);
  await victim.kill('SIGKILL');
  dead = true;
  await Promise.all(answers);
  const server = await group.start({ vendorUrl: vendor.url, folder: victim.folder, environment });
  early.resolve();
  return {
    server,
    async land() {
      late.resolve();
      for (const proxy of proxies) {
        await proxy.landed();
        await proxy.stop();
      }
    },
  };
}

const DAY_MS = 86_400_000;

/** Sweeps an account after the holds of its videos have expired, which takes hours. */
export async function sweepMuchLater({ store }: ServerGroup, { accountId }: GroupAccount): Promise<void> {
  await sweep({
    store: { ...store, due: async () => [{ accountId }] },
    outbox: new MemoryOutbox(),
    clock: { ...systemClock, now: () => Date.now() + DAY_MS },
    random: Math.random,
    shortestLifetimeMs: 1_000,
  });
}
