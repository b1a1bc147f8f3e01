import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { LASTING_MODEL, postChat, pricesOf, readError, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { type ServerGroup, startServerGroup } from '../support/server-group.ts';

const SERVERS = 3;
/** Maximum number of open holds of an account (LIM-8). */
const HOLDS_MAX = 200;
/** `RUNS` repeats every row. */
const REPEATS = Number(process.env.RUNS ?? 1);
/**
 * Maximum number of requests without a decision about their hold. With more, a store emulator exceeds its time limit.
 */
const UNDECIDED_MAX = 24;
const LIMIT_MS = 60_000;
/** Time after which no hold is open that its request gave up (BILL-14). */
const GIVEN_UP_MS = 20_000;
/** On a busy machine a charge may reach its account only with the sweeper, once the hold has expired. */
const SWEEPING = { SWEEP_SECONDS: '1', HOLD_GRACE_SECONDS: '2', UPSTREAM_DEADLINE_SECONDS: '60' };
const SWEPT_MS = 90_000;
/** Outcome of a request whose store did not confirm its hold in time. */
const UNCONFIRMED = '503 service_unavailable';
/** Delay between two responses of the provider, in ms, for the same reason. */
const ANSWER_EVERY_MS = 4;
const LOOK_EVERY_MS = 25;
/** The client sets the token cap, so the gateway does not try a smaller hold (BILL-6). */
const body = { messages: saying('All say the same'), max_tokens: 400 };
const USED = { prompt_tokens: 60, completion_tokens: 40 };

let vendor: Simulator;
let group: ServerGroup;
let servers: readonly TestProgram[];

beforeAll(async () => {
  vendor = await startSimulator();
  const claimedUsage = { input: USED.prompt_tokens, output: USED.completion_tokens };
  let calls = 0;
  vendor.setScenario(() => {
    calls += 1;
    return { claimedUsage, delayMs: (calls % HOLDS_MAX) * ANSWER_EVERY_MS };
  });
  group = await startServerGroup();
  const start = () => group.start({ vendorUrl: vendor.url, environment: SWEEPING });
  servers = [await start(), ...(await Promise.all(Array.from({ length: SERVERS - 1 }, start)))];
});
afterAll(async () => {
  await group?.stop();
  await vendor?.stop();
});

let accounts = 0;

const openAccount = (fundsPicos: bigint) => {
  accounts += 1;
  return group.openAccount(`customer-${accounts}`, fundsPicos);
};

/** Measures the hold of one request: the account shows it while the provider is silent. */
async function measureHold(): Promise<bigint> {
  const { accountId, apiKey } = await openAccount(1_000_000_000_000n);
  const gate = vendor.gate();
  const pending = postChat({ ...servers[0]!, apiKey }, body);
  await gate.waitFor(1);
  const holds = (await group.store.readAccount(accountId))!.holds;
  gate.open();
  await (await pending).text();
  expect(holds.size).toBe(1);
  return [...holds.values()][0]!.amountPicos;
}

interface Row {
  readonly requests: number;
  /** Number of holds that the balance covers. One pico-USD is missing for one more. */
  readonly paidFor: number;
  readonly served: number;
  readonly refused: '402 insufficient_balance' | '429 rate_limit_exceeded';
}

const poor = (requests: number, paidFor: number): Row => ({
  requests,
  paidFor,
  served: paidFor,
  refused: '402 insufficient_balance',
});
/** LIM-8 is checked before the balance (GEN-8). */
const rich = (requests: number, paidFor: number): Row => ({
  requests,
  paidFor,
  served: HOLDS_MAX,
  refused: '429 rate_limit_exceeded',
});
const rows: readonly Row[] = [poor(50, 25), poor(200, 100), rich(400, 200), poor(1_000, 150), rich(1_000, 300)];

async function play({ requests, paidFor, served, refused }: Row): Promise<void> {
  const hold = await measureHold();
  const funds = hold * BigInt(paidFor + 1) - 1n;
  const { accountId, apiKey } = await openAccount(funds);
  const priceOf = await pricesOf(servers[0]!, LASTING_MODEL);
  const gate = vendor.gate();
  let sent = 0;
  let refusals = 0;
  const decided = (): number => gate.arrived() + refusals;
  const ask = async (number: number): Promise<string> => {
    while (sent - decided() >= UNDECIDED_MAX) await sleep(1);
    sent += 1;
    const response = await postChat({ ...servers[number % SERVERS]!, apiKey }, body);
    if (response.status === 200) {
      await response.text();
      return 'served';
    }
    refusals += 1;
    return `${response.status} ${(await readError(response)).code}`;
  };
  const answers = Array.from({ length: requests }, (_, number) => ask(number).catch((error: unknown) => `${error}`));

  const seen: bigint[] = [];
  let polling = true;
  const poll = (async () => {
    for (; polling; await sleep(LOOK_EVERY_MS)) seen.push((await group.store.readAccount(accountId))!.availablePicos);
  })();
  const outcomes = new Map<string, number>();
  let paid = 0;
  try {
    try {
      await until(
        'every request to reach the provider or be rejected',
        () => decided() >= requests || undefined,
        LIMIT_MS,
      );
      paid = gate.arrived();
      const withoutGivenUp = async () => {
        const account = (await group.store.readAccount(accountId))!;
        return account.holds.size === paid ? account : undefined;
      };
      const meanwhile = await until('the release of every hold that was given up', withoutGivenUp, GIVEN_UP_MS);
      expect(meanwhile.availablePicos).toBe(funds - hold * BigInt(paid));
    } finally {
      gate.open();
    }
    for (const outcome of await Promise.all(answers)) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const isAtRest = async () => (await group.store.readAccount(accountId))!.holds.size === 0 || undefined;
    await until('the end of every hold', isAtRest, SWEPT_MS);
  } finally {
    polling = false;
    await poll;
  }

  const records = await group.recordsOf(accountId);
  // On a busy machine a hold can be placed after its request stopped waiting for it. Until its release, it takes the
  // place of a hold of another request.
  const givenUp = records.filter(({ reason }) => reason === 'given_up').length;
  expect(served - paid).toBeLessThanOrEqual(givenUp);
  expect(paid).toBeLessThanOrEqual(served);
  expect(outcomes.get('served')).toBe(paid);
  const unconfirmed = outcomes.get(UNCONFIRMED) ?? 0;
  expect(unconfirmed).toBeLessThanOrEqual(Math.max(UNDECIDED_MAX, requests / 10));
  expect(outcomes.get(refused)).toBe(requests - paid - unconfirmed);
  expect(seen.filter((available) => available < 0n)).toEqual([]);
  const price = priceOf(USED);
  const after = (await group.store.readAccount(accountId))!;
  expect(after).toMatchObject({
    availablePicos: funds - price * BigInt(paid),
    spentPicos: price * BigInt(paid),
    holds: new Map(),
  });
  const charged = records.filter(({ outcome }) => outcome === 'settled');
  expect(charged.map(({ amountPicos }) => amountPicos)).toEqual(Array.from({ length: paid }, () => price));
  expect(await group.audit(accountId)).toMatchObject({ stable: true, openHolds: 0, findings: [], overage: [] });
}

test.each(rows)(
  'BILL-1 LIM-8 of $requests requests with money for $paidFor, $served are served, others $refused',
  async (row) => {
    for (let repeat = 0; repeat < REPEATS; repeat += 1) await play(row);
  },
  240_000 * REPEATS,
);

test('LIM-2 three processes together admit at most burst + rate x elapsed + 1 requests per key', async () => {
  const group = await startServerGroup();
  try {
    const standard = { LIMIT_KEY_PER_SECOND: '', LIMIT_KEY_BURST: '' };
    const start = () => group.start({ vendorUrl: vendor.url, environment: standard });
    const servers = await Promise.all([start(), start(), start()]);
    const { apiKey } = await group.openAccount('hasty', 0n);
    const statuses: number[] = [];
    const startedAtMs = Date.now();
    const ask = async (url: string): Promise<void> => {
      for (let sent = 0; sent < 15; sent += 1) {
        const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
        await response.body?.cancel();
        statuses.push(response.status);
      }
    };
    await Promise.all(servers.flatMap(({ url }) => [ask(url), ask(url), ask(url), ask(url)]));
    const most = 15 + (10 * (Date.now() - startedAtMs)) / 1_000 + 1;
    const passed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(passed).toBeGreaterThanOrEqual(15);
    expect(passed).toBeLessThanOrEqual(most);
  } finally {
    await group.stop();
  }
});
