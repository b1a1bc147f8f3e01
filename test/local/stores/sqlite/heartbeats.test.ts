import { expect, onTestFinished, test } from 'vitest';
import { createStoreClock } from '../../../../lambdas/core/store-clock.ts';
import { Heartbeats, readBeats, startHeartbeats } from '../../../../local/stores/sqlite/heartbeats.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const START = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Processes that share a database, each with its own clock, on one machine: the monotonic time is the same. */
const openMachine = async () => {
  const path = newDatabasePath();
  const machine = { monotonicMs: 0, startMs: START };
  const pass = (ms: number): void => {
    machine.monotonicMs += ms;
  };
  const open = async (skewMs = 0) => {
    const db = await openTestDatabase({ path });
    const process = { skewMs };
    const own = new ManualClock(0);
    const now = (): number => machine.startMs + machine.monotonicMs + process.skewMs;
    const monotonicMs = () => machine.monotonicMs;
    const clock = createStoreClock({ own: { now, after: own.after }, monotonicMs });
    const heartbeats = new Heartbeats(db, { own: { now }, monotonicMs, clock });
    return { db, clock, heartbeats, process, now };
  };
  return { open, pass, machine };
};

type Opened = Awaited<ReturnType<Awaited<ReturnType<typeof openMachine>>['open']>>;

/** Beats of all processes over some time, as their timers make them. */
const run = async (pass: (ms: number) => void, processes: readonly Opened[], times = 4): Promise<void> => {
  for (let turn = 0; turn < times; turn += 1) {
    for (const { heartbeats } of processes) await heartbeats.beat();
    pass(15_000);
  }
};

/** The age of a beat is unknown when it is seen, so the difference is uncertain by the time between two. */
const AHEAD = expect.stringMatching(/^the clock of this process is 36[01]\d s ahead of the store$/);

test('BILL-13 a process alone follows its own clock, also after a step', async () => {
  const { open, pass } = await openMachine();
  const one = await open();
  await run(pass, [one]);
  expect(one.clock.now()).toBe(one.now());
  for (const stepMs of [HOUR_MS, -2 * HOUR_MS, 40 * 24 * HOUR_MS]) {
    one.process.skewMs += stepMs;
    expect([await one.heartbeats.problem(), one.clock.now()]).toEqual([undefined, one.now()]);
  }
});

test.each([1_000, 14_999])('BILL-13 clocks that agree stay unchanged, %d ms between the beats', async (phaseMs) => {
  const { open, pass } = await openMachine();
  const pair = [await open(), await open(-20_000)];
  for (let turn = 0; turn < 10; turn += 1) {
    for (const { heartbeats } of pair) {
      await heartbeats.beat();
      pass(phaseMs);
      for (const { clock, now } of pair) expect(clock.now()).toBe(now());
    }
    pass(15_000 - phaseMs);
  }
  expect(await Promise.all(pair.map(({ heartbeats }) => heartbeats.problem()))).toEqual([undefined, undefined]);
});

test('BILL-13 of three processes, the one with another clock is corrected and does not sweep', async () => {
  const { open, pass } = await openMachine();
  const right = await open();
  const processes = [right, await open(400), await open(HOUR_MS)];
  await run(pass, processes);
  const problems = await Promise.all(processes.map(({ heartbeats }) => heartbeats.problem()));
  expect(problems).toEqual([undefined, undefined, AHEAD]);
  for (const { clock } of processes) expect(Math.abs(clock.now() - right.now())).toBeLessThanOrEqual(1_000);
});

test.each([HOUR_MS, -HOUR_MS])('BILL-13 two processes that differ by %d ms use the earlier clock', async (skewMs) => {
  const { open, pass } = await openMachine();
  const pair = [await open(), await open(skewMs)];
  await run(pass, pair);
  const [one, other] = pair.toSorted((first, second) => first.now() - second.now());
  expect([await one?.heartbeats.problem(), await other?.heartbeats.problem()]).toEqual([undefined, AHEAD]);
  expect(one?.clock.now()).toBe(one?.now());
  expect(Math.abs((other?.clock.now() ?? 0) - (one?.now() ?? 0))).toBeLessThanOrEqual(15_000);
});

test('BILL-13 a process that ended, or has been silent for a minute, counts no more', async () => {
  const { open, pass } = await openMachine();
  const one = await open();
  const silent = await open(-HOUR_MS);
  const ended = await open(-HOUR_MS);
  await run(pass, [one, silent, ended]);
  expect(await one.heartbeats.problem()).toEqual(AHEAD);
  await ended.heartbeats.end();
  await run(pass, [one], 5);
  expect([await one.heartbeats.problem(), one.clock.now()]).toEqual([undefined, one.now()]);
  expect(readBeats(one.db)).toHaveLength(1);
  // It was only suspended.
  await run(pass, [one, silent]);
  expect(await one.heartbeats.problem()).toEqual(AHEAD);
});

test('BILL-13 a new process does not sweep until it knows whether a row is of a process that runs', async () => {
  const { open, pass } = await openMachine();
  const old = await open(-HOUR_MS);
  await old.heartbeats.beat();
  const one = await open();
  expect(await one.heartbeats.problem()).toMatch(/may run with another time/);
  pass(30_001);
  expect([await one.heartbeats.problem(), one.clock.now()]).toEqual([undefined, one.now()]);
});

test('BILL-13 after a forward step of all clocks, live requests of other processes are not swept', async () => {
  const { open, pass, machine } = await openMachine();
  const pair = [await open(), await open()];
  await run(pass, pair);
  machine.startMs += HOUR_MS;
  await run(pass, pair);
  const problems = () => Promise.all(pair.map(({ heartbeats }) => heartbeats.problem()));
  expect(await problems()).toEqual(Array(2).fill(expect.stringMatching(/moved forward/)));
  expect(pair.map(({ clock, now }) => clock.now() - now())).toEqual([0, 0]);
  await run(pass, pair, 20 * 4);
  expect(await problems()).toEqual([undefined, undefined]);
  machine.startMs -= HOUR_MS;
  await run(pass, pair);
  expect(await problems()).toEqual([undefined, undefined]);
});

test('BILL-13 a process that starts after a forward step does not sweep live requests of others either', async () => {
  const { open, pass, machine } = await openMachine();
  const serving = await open();
  await run(pass, [serving]);
  machine.startMs += HOUR_MS;
  await run(pass, [serving], 1);
  const started = await open();
  expect(await started.heartbeats.problem()).toMatch(/moved forward/);
  await run(pass, [serving, started], 20 * 4);
  expect(await started.heartbeats.problem()).toBeUndefined();
});

test('BILL-13 the row of a process leaves with it', async () => {
  const { open } = await openMachine();
  const one = await open();
  const end = await startHeartbeats(one.heartbeats);
  onTestFinished(end);
  expect(readBeats(one.db)).toMatchObject([{ atMs: one.now(), count: 1 }]);
  await end();
  expect(readBeats(one.db)).toEqual([]);
});
