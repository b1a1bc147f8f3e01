import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedRequest, Simulator } from '../../../local/simulators/server.ts';
import { dynamodbWire, s3Wire, type Wanted } from '../../support/fault-proxy-wire.ts';
import type { Environment } from '../../support/gateway-process.ts';
import type { GroupAccount, ServerGroup } from '../../support/server-group.ts';
import type { CappedKey } from '../capped-account.ts';
import { postUntilDeath, type Received } from './client.ts';
import { type StopPlan, startKillProxy } from './proxy.ts';
import { callName, heldIn, isRelease, type KillScenario, USED } from './scenarios.ts';

/** Where a request waits when its server is killed. */
export type KillPoint =
  | { readonly kind: 'call'; readonly name: string; readonly side: 'before' | 'late' | 'after' }
  /** The provider has sent this many events and then pauses. */
  | { readonly kind: 'vendor'; readonly events: number };

/** A request with its own account and client IP, in a server that is killed. */
export interface Round {
  readonly number: number;
  readonly scenario: KillScenario;
  /** Undefined: the request is killed at a random moment. */
  readonly point: KillPoint | undefined;
  readonly account: GroupAccount;
  /** Cap of the API key of the request. Undefined without one. */
  readonly capped: CappedKey | undefined;
  /** Whether the day of the cap ends after the kill. */
  readonly endsDay: boolean;
  readonly names: string[];
  readonly vendorCalls: RecordedRequest[];
  holdIds: string;
  /** Time at which the request reached its point. */
  reachedAt: number | undefined;
  /** Whether the request waited at its point when the server was killed. */
  met: boolean;
  dead: boolean;
  received: Received | undefined;
}

/** Account of a round. */
export interface RoundAccount {
  readonly account: GroupAccount;
  readonly capped?: CappedKey;
  readonly endsDay?: boolean;
}

export const newRound = (
  number: number,
  scenario: KillScenario,
  point: KillPoint | undefined,
  { account, capped, endsDay = false }: RoundAccount,
): Round => ({
  number,
  scenario,
  point,
  account,
  capped,
  endsDay,
  names: [],
  vendorCalls: [],
  holdIds: '',
  reachedAt: undefined,
  met: false,
  dead: false,
  received: undefined,
});

export const markOf = ({ number }: Pick<Round, 'number'>): string => `kill-${number}-of-the-test`;
const addressOf = ({ number }: Round): string => `127.1.${Math.floor(number / 250)}.${1 + (number % 250)}`;

export const orderOf = (round: Round) => ({
  path: round.scenario.path,
  apiKey: round.account.apiKey,
  body: round.scenario.body(markOf(round)),
  headers: round.scenario.keyed ? { 'idempotency-key': markOf(round) } : undefined,
});

/** Plays the provider of all rounds: it pauses for requests whose point is a provider call. */
export function playVendor(vendor: Simulator, rounds: readonly Round[]): void {
  vendor.setScenario((request) => {
    const [, number] = /kill-(\d+)-of-the-test/.exec(JSON.stringify(request.body) ?? '') ?? [];
    const round = rounds[Number(number)];
    round?.vendorCalls.push(request);
    const usual = {
      ...round?.scenario.vendor,
      claimedUsage: { input: USED.prompt_tokens, output: USED.completion_tokens },
    };
    if (!round || round.dead || round.point?.kind !== 'vendor') return usual;
    return round.point.events === 0 ? { ...usual, hang: true } : { ...usual, stallAfter: round.point.events };
  });
}

export interface Life {
  readonly group: ServerGroup;
  readonly vendorUrl: string;
  /** Folder of a server that was killed before. */
  readonly folder: string | undefined;
  readonly environment: Environment;
  readonly rounds: readonly Round[];
  /** Returns the delay of a call in milliseconds. */
  readonly delay?: () => number;
  /** Resolves at the time of the kill. Default: every round is at its point or has its response. */
  readonly moment?: (answered: () => number) => Promise<void>;
}

/** Shorter than the time after which a server abandons a silent store. */
const WAITS_MS = 850;
const LIMIT_MS = 20_000;

export interface Remains {
  readonly folder: string;
  /** Executes the calls that were in flight when the server was killed. */
  land(): Promise<void>;
}

/** Starts a server, sends a request for each round, and kills the server. */
export async function live({ group, vendorUrl, folder, environment, rounds, delay, moment }: Life): Promise<Remains> {
  const landing = Promise.withResolvers<void>();
  /** Rounds whose request failed before its point, for example because the provider exceeded its deadline. */
  const failed = new Set<Round>();
  const plan: StopPlan = async (call) => {
    const round = rounds.find((one) => owns(one, call));
    if (!round) return undefined;
    const name = callName(call);
    round.names.push(name);
    if (name === 'accounts hold') round.holdIds += heldIn(call);
    if (delay) await sleep(delay());
    const { point } = round;
    if (isRelease(call)) failed.add(round);
    // The points after the provider's response belong to a request that succeeds.
    if (failed.has(round)) return undefined;
    if (point?.kind !== 'call' || point.name !== name || round.reachedAt !== undefined) return undefined;
    const reached = () => {
      round.reachedAt ??= performance.now();
    };
    return { side: point.side, landing: landing.promise, reached };
  };
  const database = await startKillProxy(group.databaseUrl, dynamodbWire, plan);
  const bucket = await startKillProxy(group.bucketUrl, s3Wire, plan);
  const stopProxies = () => Promise.all([database.stop(), bucket.stop()]);
  try {
    const server = await group.start({
      vendorUrl,
      folder,
      databaseUrl: database.endpoint,
      bucketUrl: bucket.endpoint,
      environment,
    });
    const answers = rounds.map(async (round) => {
      round.received = await postUntilDeath(server.url, addressOf(round), orderOf(round));
    });
    const answered = () => rounds.filter(({ received }) => received !== undefined).length;
    await (moment ?? ((): Promise<void> => everyPoint(rounds)))(answered);
    const dying = server.kill('SIGKILL');
    const killedAt = performance.now();
    for (const round of rounds) {
      round.met = round.reachedAt !== undefined && killedAt - round.reachedAt < WAITS_MS;
      round.dead = true;
    }
    await Promise.all([dying, ...answers]);
    return {
      folder: server.folder,
      async land() {
        landing.resolve();
        await Promise.all([database.landed(), bucket.landed()]);
        await stopProxies();
      },
    };
  } catch (error) {
    await stopProxies();
    throw error;
  }
}

const owns = (round: Round, { keys: [key = ''] }: Wanted): boolean => {
  const { accountId, keyHash } = round.account;
  if (key === keyHash || key === `ip#${addressOf(round)}`) return true;
  if (key.startsWith(`account#${accountId} `) || key.startsWith(`account#${accountId}#`)) return true;
  const [, object] = /^(?:answers|outbox)\/(.+)$/.exec(key) ?? [];
  return object !== undefined && round.holdIds.includes(object);
};

async function everyPoint(rounds: readonly Round[]): Promise<void> {
  const giveUpAt = performance.now() + LIMIT_MS;
  const settled = (round: Round): boolean => {
    const { point, vendorCalls, received } = round;
    if (point?.kind === 'vendor' && vendorCalls.some(({ eventsSent }) => eventsSent >= point.events)) {
      round.reachedAt ??= performance.now();
    }
    return round.reachedAt !== undefined || received !== undefined;
  };
  for (;;) {
    const waiting = rounds.filter((round) => !settled(round));
    if (waiting.length === 0) return;
    const since = Math.min(...rounds.map(({ reachedAt }) => reachedAt ?? Number.POSITIVE_INFINITY));
    const now = performance.now();
    // Requests that already reached their points cannot wait longer.
    if (now - since > WAITS_MS - 100 || now > giveUpAt) return;
    await sleep(2);
  }
}
