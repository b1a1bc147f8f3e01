import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LedgerDependencies } from '../../lambdas/core/ledger/ledger.ts';
import { createClients } from '../../lambdas/functions/wiring/clients.ts';
import { ledgerDependenciesFromEnvironment, toLedgerDependencies } from '../../lambdas/functions/wiring/ledger.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { localMediaBucket } from '../../local/emulators/s3.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { auditAccount } from '../contracts/ledger-audit.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestBucket, type TestBucket } from '../support/fault-proxy-bucket.ts';
import { s3Wire } from '../support/fault-proxy-wire.ts';
import { startGateway } from '../support/gateway.ts';
import { errorSchema, pricesOf } from '../support/gateway-chat.ts';
import type { TestProgram } from '../support/program.ts';
import { capComplaints, startNextDay } from './capped-account.ts';
import {
  type Case,
  isAboutAddress,
  isDispatched,
  lasting,
  pairs,
  type Scenario,
  scenarios,
  singles,
  USED,
  unrecorded,
} from './every-store-call/cases.ts';
import { type Answer, type Lane, openLane } from './every-store-call/lane.ts';
import { type PlayedScript, playScript } from './every-store-call/script.ts';

const LANES = 10;
const FUNDS_PICOS = 100_000_000_000_000n;

let vendor: Simulator;
let database: TestDynamodb;
let bucket: TestBucket;
let proxy: FaultProxy;
let bucketProxy: FaultProxy;
let gateway: TestProgram;
let clients: ReturnType<typeof createClients>;
let ledger: LedgerDependencies;
let newLane: () => Promise<Lane>;
const lanes: Lane[] = [];
const playing = new Map<Lane, PlayedScript>();

beforeAll(async () => {
  vendor = await startSimulator();
  vendor.setScenario(() => ({ claimedUsage: { input: USED.prompt_tokens, output: USED.completion_tokens } }));
  [database, bucket] = await Promise.all([startTestDynamodb(), startTestBucket()]);
  proxy = await startFaultProxy({
    target: database.endpoint,
    plan: (call) => [...playing].find(([lane]) => lane.owns(call))?.[1].plan(call),
  });
  bucketProxy = await startFaultProxy({ target: bucket.endpoint, wire: s3Wire });
  gateway = await startGateway({
    stores: 'engine',
    vendorUrl: vendor.url,
    environment: { DYNAMODB_ENDPOINT: proxy.endpoint, S3_ENDPOINT: bucketProxy.endpoint },
  });
  const pepper = readFileSync(join(gateway.folder, 'secrets/pepper'), 'utf8');
  clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  ledger = toLedgerDependencies(
    ledgerDependenciesFromEnvironment({
      AWS_REGION: 'us-east-1',
      ACCOUNTS_TABLE: localTableNames.accounts,
      KEYS_TABLE: localTableNames.keys,
      COUNTERS_TABLE: localTableNames.counters,
      IDEMPOTENCY_TABLE: localTableNames.idempotency,
      VIDEOS_TABLE: localTableNames.videos,
      DYNAMODB_ENDPOINT: database.endpoint,
      MEDIA_BUCKET: localMediaBucket,
      S3_ENDPOINT: bucket.endpoint,
    }),
  );
  let opened = 0;
  newLane = () => {
    opened += 1;
    return openLane(opened, { gatewayUrl: gateway.url, pepper, clients, ledger, fundsPicos: FUNDS_PICOS });
  };
  for (let lane = 0; lane < LANES; lane += 1) lanes.push(await newLane());
});
afterAll(async () => {
  for (const client of [clients?.once, clients?.repeating]) client?.destroy();
  await gateway?.stop();
  for (const part of [proxy, bucketProxy, database, bucket, vendor]) await part?.stop();
});

const audit = ({ accountId }: Lane) => auditAccount({ direct: ledger.store, client: clients.repeating }, accountId);

/** Opens a lane with a cap whose day does not end. */
const newCappedLane = async (): Promise<Lane> => {
  for (;;) {
    const lane = await newLane();
    if (lane.capped && !lane.endsDays) return lane;
  }
};

/** Waits for the calls of a lane and sweeps its account, until no further call arrives: one may follow the response. */
async function untilAtRest(lane: Lane): Promise<void> {
  for (;;) {
    const calls = proxy.calls.filter((call) => lane.owns(call));
    await Promise.all(calls.map((call) => call.over));
    await lane.sweepAll();
    if (proxy.calls.filter((call) => lane.owns(call)).length === calls.length) return;
  }
}

let marks = 0;

/** Plays one request with its faults, and the sweep after it. */
async function play(scenario: Scenario, lane: Lane, { scripts, lands }: Pick<Case, 'scripts' | 'lands'>) {
  const before = await audit(lane);
  marks += 1;
  const mark = `request-${marks}-of-the-test`;
  const played = playScript(scripts);
  playing.set(lane, played);
  const answer = await lane.post(scenario.path, scenario.body(mark), scenario.headers?.(mark));
  if (lane.capped && lane.endsDays) await startNextDay(ledger.store, lane.capped);
  if (lands === 'after the sweep') await lane.sweepAll();
  played.comeLater();
  await untilAtRest(lane);
  playing.delete(lane);
  const after = await audit(lane);
  if (lane.capped) expect(capComplaints(after.account, after.records, lane.capped)).toEqual([]);
  const known = new Set(before.records.map(({ holdId }) => holdId));
  const charges = after.records.filter(({ holdId, outcome }) => !known.has(holdId) && outcome === 'settled');
  return {
    answer,
    played,
    spent: after.account.spentPicos - before.account.spentPicos,
    charges: charges.map(({ amountPicos }) => amountPicos),
    vendorCalls: vendor.requests.filter(({ body }) => JSON.stringify(body)?.includes(mark)).length,
  };
}

/** Returns the result that a client sees. A stream must have its end. */
const outcomeOf = ({ status, headers, text }: Answer): string => {
  const error = (json: string) => errorSchema.safeParse(JSON.parse(json)).data?.error.code;
  if (status !== 200) return `${status} ${error(text)} ${headers['retry-after']}`;
  if (!String(headers['content-type']).startsWith('text/event-stream')) return 'served';
  const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
  if (events.at(-1) === 'data: [DONE]') return 'served';
  return `event ${error((events.at(-1) ?? '{}').slice('data: '.length))}`;
};

const outcomes = {
  200: ['served'],
  429: ['429 rate_limit_exceeded 1'],
  503: ['503 service_unavailable 30', 'event service_unavailable'],
};

const describe = ({ scripts, lands }: Case): string =>
  `${scripts.map(({ name, turn, kind }) => `${kind} at ${name} ${turn}`).join(' and ')}, ${lands}`;

/** Time that a request has for its store calls before the provider call (BILL-14), in ms. */
const STORE_TIME_MS = 3_000;

/** Whether the store did not reply in that time, or did not reply to earlier requests. A fault of this test takes none. */
const isOutOfTime = (answer: Answer): boolean =>
  /^503 service_unavailable \d$/.test(outcomeOf(answer)) ||
  (outcomeOf(answer) === '503 service_unavailable 30' && answer.tookMs >= STORE_TIME_MS);

/** Returns the problem of a case, or undefined. */
async function judge(scenario: Scenario, lane: Lane, one: Case, price: bigint): Promise<string | undefined> {
  const told = (run: Run): string =>
    `${describe(one)}: ${outcomeOf(run.answer)} after ${Math.round(run.answer.tookMs)} ms, ${run.vendorCalls} provider calls, charges ${run.charges} of ${price}, calls ${run.played.names}`;
  let run = await play(scenario, lane, one);
  // After three failures in a row, the program skips the IP limit for 5 s (LIM-4). After many failures, the SDK pauses
  // its retries. The call to fail is then missing. On a busy machine, the rejection may arrive after the limit of 50
  // ms, and the time for store calls may end. Such cases are repeated.
  const isUnheard = () =>
    run.played.met.size < one.scripts.length ||
    (one.status === 429 && outcomeOf(run.answer) === 'served') ||
    (one.status !== 503 && isOutOfTime(run.answer));
  for (let again = 0; again < 8 && isUnheard(); again += 1) {
    if (!isHonest(run, one, price)) return told(run);
    await sleep(1_000);
    run = await play(scenario, lane, one);
  }
  const right =
    run.played.met.size === one.scripts.length &&
    outcomes[one.status].includes(outcomeOf(run.answer)) &&
    isHonest(run, one, price) &&
    run.vendorCalls === (isDispatched(one) ? 1 : 0);
  return right ? undefined : told(run);
}

/**
 * Whether the charge is right: exactly one for a served request, otherwise none, except if it may be charged without a
 * reply.
 */
const isHonest = (run: Run, one: Case, price: bigint): boolean => {
  const paid = run.charges.length === 1 && run.charges[0] === price && run.spent === price;
  const free = run.charges.length === 0 && run.spent === 0n;
  if (outcomeOf(run.answer) === 'served') return paid && run.vendorCalls === 1;
  return free || (one.mayBeCharged === true && paid);
};

type Run = Awaited<ReturnType<typeof play>>;

/** Returns the failing cases. Cases about the IP limit have their own lane, with successful requests between them. */
async function failing(scenario: Scenario, cases: readonly Case[]): Promise<string[]> {
  const price = (await pricesOf(gateway, scenario.model))(scenario.charged);
  const addressCases = cases.filter(isAboutAddress);
  const others = cases.filter((one) => !isAboutAddress(one));
  const wrong: string[] = [];
  const work = async (index: number, queue: Case[]): Promise<void> => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      try {
        const lane = lanes[index]!;
        if (queue === addressCases) await play(scenario, lane, { scripts: [], lands: 'before the sweep' });
        const complaint = await judge(scenario, lane, one, price);
        if (complaint) wrong.push(complaint);
      } catch (error) {
        wrong.push(`${describe(one)}: ${error}`);
        // After an error, the account of this lane can no longer be judged.
        lanes[index] = await newLane();
      }
    }
  };
  await Promise.all(lanes.map((_, index) => work(index, index === 0 ? addressCases : others)));
  proxy.forget();
  return wrong;
}

test.each(scenarios)('BILL-14 $title makes exactly the store calls of the table', async (scenario) => {
  const capped = await newCappedLane();
  for (const lane of [lanes[0]!, capped]) {
    const { answer, played } = await play(scenario, lane, { scripts: [], lands: 'before the sweep' });
    expect(outcomeOf(answer)).toBe('served');
    expect(played.names.toSorted()).toEqual(scenario.calls.toSorted());
  }
});

test.each(scenarios)(
  'BILL-14 LIM-4 $title with one failed store call: served and charged once, or neither',
  async (scenario) => {
    expect(await failing(scenario, singles(scenario))).toEqual([]);
  },
);

test.each(scenarios)(
  'BILL-13 BILL-14 $title with two lost or late calls: served and charged once',
  async (scenario) => {
    expect(await failing(scenario, pairs(scenario))).toEqual([]);
  },
);

test.each(scenarios)(
  'BILL-14 LIM-4 $title while a kind of store call fails: served and charged, or neither',
  async (scenario) => {
    expect(await failing(scenario, lasting(scenario))).toEqual([]);
  },
);

test.each(scenarios)(
  'BILL-14 $title without charge and outbox entry is withheld, unless the charge is found',
  async (scenario) => {
    bucketProxy.setOutage(true);
    try {
      expect(await failing(scenario, unrecorded)).toEqual([]);
    } finally {
      bucketProxy.setOutage(false);
    }
  },
);
