import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../../lambdas/core/circuit/circuit.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { CircuitWorld, type Weather, weathers } from './circuit-world.ts';
import { CircuitHistory } from './history.ts';

const runs = randomRuns(import.meta.filename, { quick: 100, long: 10_000 });

type Command = fc.AsyncCommand<object, CircuitHistory>;
const command = (name: string, run: (history: CircuitHistory) => Promise<void>): Command => ({
  check: () => true,
  run: async (_model, history) => {
    await run(history);
    history.check();
  },
  toString: () => name,
});

const processes = fc.nat({ max: 2 });
const accounts = fc.constantFrom('a', 'a', 'b', 'c');
const outcomes = fc.constantFrom<Outcome>('failed', 'failed', 'succeeded', 'succeeded', 'unknown', 'timed_out');

const commands = fc.commands(
  [
    fc
      .tuple(processes, accounts, outcomes)
      .map(([process, account, outcome]) =>
        command(`call(${process}, ${account}, ${outcome})`, (history) => history.call(process, account, outcome)),
      ),
    // An outage of up to four rounds. In each round, one call fails in every process.
    fc.tuple(fc.nat({ max: 4 }), accounts, accounts).map(([times, first, second]) =>
      command(`outage(${times}, ${first}, ${second})`, async (history) => {
        for (let round = 0; round < times; round += 1) {
          for (const process of [0, 1, 2]) await history.call(process, round % 2 === 0 ? first : second, 'failed');
        }
      }),
    ),
    // The provider works for a while.
    fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(10, 5_001, 31_000)).map(([times, ms]) =>
      command(`well(${times}, ${ms})`, async (history) => {
        for (let round = 0; round < times; round += 1) {
          for (const process of [0, 1, 2]) await history.call(process, 'c', 'succeeded');
          await history.advance(ms);
        }
      }),
    ),
    fc.tuple(processes, accounts).map(([process, account]) =>
      command(`begin(${process}, ${account})`, async (history) => {
        await history.begin(process, account);
      }),
    ),
    fc.tuple(fc.nat({ max: 9 }), outcomes).map(([index, outcome]) =>
      command(`finish(${index}, ${outcome})`, async (history) => {
        if (history.running > 0) await history.finish(index, outcome);
      }),
    ),
    fc
      .constantFrom(10, 1_000, 5_001, 15_000, 30_000, 60_000, 300_000)
      .map((ms) => command(`advance(${ms})`, (history) => history.advance(ms))),
    fc
      .constantFrom<Weather[]>('fine', 'fine', 'fine', ...weathers)
      .map((weather) => command(`turn(${weather})`, async (history) => history.turn(weather))),
    processes.map((process) => command(`die(${process})`, async (history) => history.die(process))),
  ],
  { maxCommands: 60, size: 'max' },
);

test(
  'FALL-1 in any history of three processes a circuit opens, is probed, closes and recovers',
  async () => {
    const seen = { opened: 0, leased: 0, reopened: 0, closed: 0 };
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const history = new CircuitHistory();
        await fc.asyncModelRun(() => ({ model: {}, real: history }), list);
        await history.recover();
        for (const name of ['opened', 'leased', 'reopened', 'closed'] as const) seen[name] += history.watch.seen[name];
      }),
      runs,
    );
    process.stdout.write(`over all histories: ${JSON.stringify(seen)}\n`);
    // The runs prove little unless every kind of transition occurs.
    if (runs.numRuns >= 1_000) expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs.numRuns / 20);
  },
  60_000 + runs.numRuns * 240,
);

test(
  'FALL-1 failures of one account and timeouts of two disable the model for no other account',
  async () => {
    const calls = fc.record({
      process: fc.nat({ max: 2 }),
      account: fc.constantFrom('bad', 'bad', 'bad', 'long', 'long', 'good', 'other'),
      ms: fc.constantFrom(0, 0, 0, 100, 5_001, 30_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { maxLength: 80, size: 'max' }), async (list) => {
        const world = new CircuitWorld();
        const all = [0, 1, 2].map(() => world.start());
        for (const { process, account, ms } of list) {
          const outcome = account === 'bad' ? 'failed' : account === 'long' ? 'timed_out' : 'succeeded';
          const rejection = await all[process]?.call(outcome, account);
          if (outcome === 'succeeded') expect(rejection, account).toBeUndefined();
          await world.clock.advance(ms);
        }
        expect(world.state).toBeUndefined();
      }),
      { ...runs, numRuns: runs.numRuns / 5 },
    );
  },
  60_000 + runs.numRuns * 40,
);

test(
  'FALL-1 without a failure the circuit writes nothing, whatever the store does',
  async () => {
    const calls = fc.record({
      process: fc.nat({ max: 2 }),
      outcome: fc.constantFrom<Outcome>('succeeded', 'succeeded', 'unknown'),
      ms: fc.constantFrom(0, 0, 100, 5_001, 30_000),
      weather: fc.constantFrom<Weather[]>('fine', 'fine', ...weathers),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { maxLength: 60, size: 'max' }), async (list) => {
        const world = new CircuitWorld();
        const all = [0, 1, 2].map(() => world.start());
        for (const { process, outcome, ms, weather } of list) {
          world.weather = weather;
          expect(await all[process]?.call(outcome)).toBeUndefined();
          await world.clock.advance(ms);
        }
        expect(all.flatMap(({ writes }) => writes)).toEqual([]);
      }),
      { ...runs, numRuns: runs.numRuns / 5 },
    );
  },
  60_000 + runs.numRuns * 40,
);
