import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { pricesOf } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { numbersFrom } from '../support/kill-random.ts';
import type { TestProgram } from '../support/program.ts';
import { randomRuns } from '../support/random-runs.ts';
import { type GroupAccount, type ServerGroup, startServerGroup } from '../support/server-group.ts';
import { startNextDay } from './capped-account.ts';
import { isGood, type Received } from './kill/client.ts';
import { atOnce, judge, repeatUntilAnswered, untilSwept, type Verdict } from './kill/judge.ts';
import {
  type KillPoint,
  type Life,
  live,
  newRound,
  playVendor,
  type Remains,
  type Round,
  type RoundAccount,
} from './kill/life.ts';
import { ADDRESS, type KillScenario, killScenarios, USED, VENDOR } from './kill/scenarios.ts';

const FUNDS_PICOS = 1_000_000_000_000n;
const LIMIT_PICOS = FUNDS_PICOS / 2n;
/** Number of concurrent rounds in a server. */
const TOGETHER = 10;
/** Number of servers that run concurrently and are killed repeatedly, each on its own folder. */
const SLOTS = 2;
const TRIES = 10;
const RANDOM_ROUNDS = 30;
/** A busy machine needs several seconds for each of the many starts of a server. */
const LIMIT_MS = 900_000;
/** Short times, so the rounds end soon. The killed servers never sweep; the survivors do. */
const environment = {
  HOLD_GRACE_SECONDS: '2',
  UPSTREAM_DEADLINE_SECONDS: '2',
  CLAIM_LEASE_SECONDS: '1',
  SWEEP_SECONDS: '3600',
};
const { seed } = randomRuns(import.meta.filename, { quick: RANDOM_ROUNDS, long: RANDOM_ROUNDS });
const factor = Number(process.env.RUNS ?? 1);

let vendor: Simulator;
let group: ServerGroup;
/** Two servers whose sweepers compete. */
let survivors: readonly TestProgram[];
const prices = new Map<string, bigint>();
const rounds: Round[] = [];
const folders: (string | undefined)[] = [];

beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 100 });
  playVendor(vendor, rounds);
  group = await startServerGroup();
  const start = () => group.start({ vendorUrl: vendor.url, environment: { ...environment, SWEEP_SECONDS: '1' } });
  survivors = await Promise.all([start(), start()]);
  for (const { model } of killScenarios) {
    // An embedding has no output.
    const used = model.includes('embedding') ? { ...USED, completion_tokens: 0 } : USED;
    prices.set(model, (await pricesOf(survivors[0]!, model))(used));
  }
});
afterAll(async () => {
  await group?.stop();
  await vendor?.stop();
});

const random = numbersFrom(seed);

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);

/**
 * Two of three requests use an API key with a cap. The day of every second cap ends after the kill, while its
 * hold is open.
 */
async function withCap(number: number, account: GroupAccount): Promise<RoundAccount> {
  if (number % 3 === 0) return { account };
  const key = await group.addKey(account.accountId, { name: 'Capped', limitPicos: LIMIT_PICOS, limitPeriod: 'day' });
  return { account: key, capped: { ...key, limitPicos: LIMIT_PICOS }, endsDay: number % 3 === 2 };
}

async function open(scenario: KillScenario, point?: KillPoint): Promise<Round> {
  const number = rounds.length;
  const slot = rounds.push(undefined as never) - 1;
  const account = await group.openAccount(`killed-${number}`, FUNDS_PICOS);
  const round = newRound(number, scenario, point, await withCap(number, account));
  rounds[slot] = round;
  return round;
}

type Plot = Pick<Life, 'delay' | 'moment'> & { readonly rounds: readonly Round[] };

/** Responses to repeated requests of killed servers, from both survivors. */
const repeated = new Map<Round, Promise<Received[]>>();
/** Each promise resolves when all late calls of a killed server have been executed. */
const aftermaths: Promise<void>[] = [];

/** Executes the late calls of a killed server after its requests were repeated, or its holds have ended. */
async function endLife(rounds: readonly Round[], { land }: Remains): Promise<void> {
  await Promise.all(rounds.map(({ capped, endsDay }) => capped && endsDay && startNextDay(group.store, capped)));
  const atSurvivors = (round: Round) => Promise.all(survivors.map((server) => repeatUntilAnswered(server, round)));
  for (const round of rounds) if (round.scenario.keyed) repeated.set(round, atSurvivors(round));
  try {
    // A claim must be taken over before a sweep, which would close the old hold as well.
    await Promise.all(rounds.map((round) => repeated.get(round) ?? untilSwept(group, round)));
  } finally {
    await land();
  }
}

async function playLives(plots: readonly Plot[]): Promise<void> {
  const queue = [...plots];
  const work = async (slot: number): Promise<void> => {
    for (let plot = queue.shift(); plot; plot = queue.shift()) {
      const remains = await live({ group, vendorUrl: vendor.url, folder: folders[slot], environment, ...plot });
      folders[slot] = remains.folder;
      const aftermath = endLife(plot.rounds, remains);
      aftermath.catch(() => undefined);
      aftermaths.push(aftermath);
    }
  };
  await Promise.all(Array.from({ length: SLOTS }, (_, slot) => work(slot)));
}

async function judgeAll(played: readonly Round[]): Promise<readonly Verdict[]> {
  await Promise.all(aftermaths);
  const verdicts: Verdict[] = [];
  // Judged in groups: concurrent repeats of all large responses would overload the emulators.
  for (const each of chunks(played, TOGETHER)) verdicts.push(...(await Promise.all(each.map(judgeRound))));
  return verdicts;
}

async function judgeRound(round: Round): Promise<Verdict> {
  const early = (await repeated.get(round)) ?? [];
  const late = round.scenario.keyed
    ? await Promise.all(survivors.map((server) => repeatUntilAnswered(server, round)))
    : [];
  const pricePicos = prices.get(round.scenario.model)!;
  return judge(group, round, { fundsPicos: FUNDS_PICOS, pricePicos, repeats: [...early, ...late] });
}

const complaintsOf = (verdicts: readonly Verdict[]): string[] => verdicts.flatMap(({ complaints }) => complaints);

/** All points of a scenario in order: before and after every call, and executed long after the kill. */
const pointsOf = (scenario: KillScenario): KillPoint[] =>
  scenario.calls.flatMap((name): KillPoint[] => {
    // The client IP limit precedes everything and is equal in all scenarios, so one scenario covers it.
    if (name === ADDRESS && scenario !== killScenarios[0]) return [];
    if (name !== VENDOR) return (['before', 'late', 'after'] as const).map((side) => ({ kind: 'call', name, side }));
    return Array.from({ length: scenario.vendorEvents + 1 }, (_, events) => ({ kind: 'vendor', events }));
  });

/** Removes calls that no request waits for: whether they occur depends on the load. The rounds cover them. */
const awaited = (calls: readonly string[]) => [...new Set(calls)].filter((name) => !atOnce(name)).toSorted();

test('BILL-1 every request waits for its stores and its provider exactly as the table lists', async () => {
  const whole = await Promise.all(killScenarios.map((scenario) => open(scenario)));
  const moment = async (answered: () => number): Promise<void> => {
    while (answered() < whole.length) await sleep(5);
    // Also waits for the calls that follow the responses.
    await until('the calls after the responses', () =>
      whole.every(({ scenario, names }) =>
        awaited(scenario.calls).every((name) => name === VENDOR || names.includes(name)),
      )
        ? true
        : undefined,
    );
  };
  await playLives([{ rounds: whole, moment }]);
  for (const { scenario, received, names, vendorCalls } of whole) {
    expect(isGood(received!), scenario.title).toBe(true);
    expect(awaited([...names, VENDOR])).toEqual(awaited(scenario.calls));
    const events = scenario.vendorEvents === 0 ? 0 : scenario.vendorEvents + 1;
    expect(vendorCalls.map(({ eventsSent }) => eventsSent)).toEqual([events]);
  }
  expect(complaintsOf(await judgeAll(whole))).toEqual([]);
});

test(
  'BILL-13 BILL-14 IDEM-8 killed before or after any call, a request is charged once or never',
  async () => {
    const played: Round[] = [];
    let missing = Array.from({ length: factor }, () =>
      killScenarios.flatMap((scenario) => pointsOf(scenario).map((point) => ({ scenario, point }))),
    ).flat();
    const wanted = missing.length;
    for (let tried = 0; tried < TRIES && missing.length > 0; tried += 1) {
      const fresh = await Promise.all(missing.map(({ scenario, point }) => open(scenario, point)));
      played.push(...fresh);
      const alone = fresh.filter(({ point }) => point?.kind === 'call' && atOnce(point.name));
      const others = Map.groupBy(
        fresh.filter((round) => !alone.includes(round)),
        ({ scenario }) => scenario,
      );
      const groups = [...others.values()].flatMap((all) => chunks(all, TOGETHER));
      await playLives(shuffled([...alone.map((round) => [round]), ...groups]).map((each) => ({ rounds: each })));
      missing = fresh.flatMap(({ met, scenario, point }) => (met || !point ? [] : [{ scenario, point }]));
    }
    const verdicts = await judgeAll(played);
    const met = played.filter((round) => round.met).length;
    const charged = verdicts.filter(({ charges }) => charges > 0).length;
    console.info(`${wanted} points, ${met} met in ${played.length} rounds, ${charged} charged`);
    expect(complaintsOf(verdicts)).toEqual([]);
    expect(missing.map(({ scenario, point }) => `${scenario.title}: ${JSON.stringify(point)}`)).toEqual([]);
  },
  LIMIT_MS * factor,
);

test(
  'BILL-13 BILL-14 IDEM-8 killed at any moment, a request is charged once or never',
  async () => {
    const picked = Array.from(
      { length: RANDOM_ROUNDS * factor },
      (_, index) => killScenarios[index % killScenarios.length]!,
    );
    const fresh = await Promise.all(shuffled(picked).map((scenario) => open(scenario)));
    await playLives(
      chunks(fresh, TOGETHER).map((each): Plot => {
        const most = each.reduce((sum, { scenario }) => sum + scenario.calls.length - 1, 0);
        const afterCalls = Math.ceil(random() * most);
        const afterMs = random() * 30;
        return {
          rounds: each,
          delay: () => random() * 40,
          moment: async (answered) => {
            const made = () => each.reduce((sum, { names }) => sum + names.length, 0);
            while (made() < afterCalls && answered() < each.length) await sleep(1);
            await sleep(afterMs);
          },
        };
      }),
    );
    const verdicts = await judgeAll(fresh);
    const reached = Map.groupBy(fresh, ({ names }) => names.length);
    console.info(
      `${fresh.length} rounds, ${verdicts.filter(({ served }) => served).length} served; calls made when killed: ` +
        [...reached]
          .toSorted(([one], [other]) => one - other)
          .map(([calls, all]) => `${calls}: ${all.length}`)
          .join(', '),
    );
    expect(complaintsOf(verdicts)).toEqual([]);
  },
  LIMIT_MS * factor,
);

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
