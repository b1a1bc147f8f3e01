import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { LASTING_MODEL } from '../support/gateway-chat.ts';
import { until, within } from '../support/gateway-process.ts';
import { numbersFrom } from '../support/kill-random.ts';
import type { TestProgram } from '../support/program.ts';
import { randomRuns } from '../support/random-runs.ts';
import { type GroupAccount, type ServerGroup, startServerGroup } from '../support/server-group.ts';
import { chatBody, type KeyedReply, postKeyed, untilAnswered } from './keyed-requests.ts';

const FUNDS = 1_000_000_000_000n;
const LIMIT_MS = 60_000;

const lastingChat = (prompt: string) => ({ ...chatBody(prompt), model: LASTING_MODEL });

let vendor: Simulator;
let group: ServerGroup;
/** The server that is frozen, and the server that the client uses next. */
let sleeper: TestProgram;
let wakeful: TestProgram;

beforeAll(async () => {
  vendor = await startSimulator();
  group = await startServerGroup();
  const start = () => group.start({ vendorUrl: vendor.url, environment: { CLAIM_LEASE_SECONDS: '1' } });
  sleeper = await start();
  wakeful = await start();
});
afterAll(async () => {
  await group?.stop();
  await vendor?.stop();
});
beforeEach(() => vendor.reset());

let accounts = 0;
const newcomer = (): Promise<GroupAccount> => {
  accounts += 1;
  return group.openAccount(`sleeper-${accounts}`, FUNDS);
};

/** Stops the whole process group while the work runs. */
async function frozen<T>({ pid }: TestProgram, work: () => Promise<T>): Promise<T> {
  process.kill(-pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(-pid, 'SIGCONT');
  }
}

interface Told {
  readonly first: KeyedReply;
  readonly second: KeyedReply;
}

/** Checks that there is one charge and one response (IDEM-8), from either server. */
async function expectOne({ first, second }: Told, { accountId, apiKey }: GroupAccount, key: string, body: object) {
  expect(second.status, second.text).toBe(200);
  if (first.status === 200) expect(first.text).toBe(second.text);
  else expect([first.status, first.code]).toEqual([409, 'idempotency_in_progress']);
  const cost = second.headers.get('x-service-cost-usd') ?? '';
  for (const { url } of [sleeper, wakeful]) {
    const again = await postKeyed({ url, apiKey }, key, body);
    expect([again.status, again.replayed, again.text]).toEqual([200, true, second.text]);
    expect(again.headers.get('x-service-cost-usd')).toBe(cost);
  }
  await until('the end of every hold', async () => {
    const account = await group.store.readAccount(accountId);
    return account?.holds.size === 0 ? account : undefined;
  });
  const settled = (await group.recordsOf(accountId)).filter(({ outcome }) => outcome === 'settled');
  expect(settled.map(({ amountPicos }) => amountPicos)).toEqual([parseUsd(cost)]);
  expect(await group.audit(accountId)).toMatchObject({ openHolds: 0, findings: [] });
}

test.for([
  ['has arrived while frozen', 0],
  ['arrives after waking', 6_000],
] as const)('IDEM-8 a frozen owner is taken over; its response that %s is dropped', async ([_, delayMs]) => {
  const account = await newcomer();
  const { apiKey } = account;
  const key = 'frozen';
  const body = lastingChat('hello');
  const gate = vendor.gate();
  vendor.next({ delayMs });
  const pending = postKeyed({ url: sleeper.url, apiKey }, key, body);
  await within('the first call', gate.waitFor(1));
  const second = await frozen(sleeper, async () => {
    gate.open();
    const early = await postKeyed({ url: wakeful.url, apiKey }, key, body);
    if (early.status !== 200) {
      expect([early.status, early.code, early.headers.get('retry-after')]).toEqual([
        409,
        'idempotency_in_progress',
        '5',
      ]);
    }
    const ask = () => untilAnswered(() => postKeyed({ url: wakeful.url, apiKey }, key, body));
    return early.status === 200 ? early : within('the takeover', ask(), LIMIT_MS);
  });
  expect([second.status, second.replayed]).toEqual([200, false]);
  expect(vendor.requests).toHaveLength(2);
  const first = await within('the response of the frozen server', pending, LIMIT_MS);
  expect(first.replayed || first.status === 409).toBe(true);
  await expectOne({ first, second }, account, key, body);
  expect(vendor.requests).toHaveLength(2);
});

const { seed, numRuns } = randomRuns(import.meta.filename, { quick: 6, long: 6 });

test(`IDEM-8 frozen at ${numRuns} random moments and taken over: one charge, one response`, async () => {
  const random = numbersFrom(seed);
  for (let turn = 0; turn < numRuns; turn += 1) {
    const account = await newcomer();
    const { apiKey } = account;
    const key = `frozen-${turn}`;
    const body = lastingChat('[[delay 20]] hello');
    const pending = postKeyed({ url: sleeper.url, apiKey }, key, body);
    await sleep(random() * 120);
    const second = await frozen(sleeper, () =>
      within(
        'the takeover',
        untilAnswered(() => postKeyed({ url: wakeful.url, apiKey }, key, body)),
        LIMIT_MS,
      ),
    );
    const first = await within('the response of the frozen server', pending, LIMIT_MS);
    await expectOne({ first, second }, account, key, body);
  }
});
