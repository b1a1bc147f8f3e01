import { expect, test } from 'vitest';
import { createStoreClock, SKEW_MS_MAX, skewProblemOf } from '../../../lambdas/core/store-clock.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const START = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

/** A process whose clock differs from the store's, and calls of the store that take some time. */
const scene = (skewMs: number) => {
  const own = new ManualClock(START + skewMs);
  const time = { storeMs: START, monotonicMs: 0 };
  const problems: string[] = [];
  const clock = createStoreClock({
    own,
    monotonicMs: () => time.monotonicMs,
    onProblem: (problem) => problems.push(problem),
  });
  const pass = (ms: number): void => {
    time.storeMs += ms;
    time.monotonicMs += ms;
    own.skip(ms);
  };
  const call = (replyMs = 20, during = () => {}): void => {
    const replied = clock.startSample();
    pass(replyMs / 2);
    const date = new Date(time.storeMs).toUTCString();
    during();
    pass(replyMs / 2);
    replied(date);
  };
  return { own, time, clock, problems, pass, call };
};

test.each([HOUR_MS, -HOUR_MS, 40 * 24 * HOUR_MS, -10_000])(
  'BILL-13 a clock that differs by %d ms follows the store after one reply',
  (skewMs) => {
    const { clock, time, call, pass } = scene(skewMs);
    expect(clock.now()).toBe(START + skewMs);
    call();
    expect(Math.abs(clock.now() - time.storeMs)).toBeLessThanOrEqual(500);
    expect(Math.abs(clock.skewMs() - skewMs)).toBeLessThanOrEqual(500);
    pass(600_000);
    expect(Math.abs(clock.now() - time.storeMs)).toBeLessThanOrEqual(500);
  },
);

test('BILL-13 a corrected time has whole milliseconds, as every stored time', () => {
  const { clock, call } = scene(HOUR_MS);
  call(19.37);
  expect([Number.isInteger(clock.skewMs()), clock.skewMs() === 0]).toEqual([true, false]);
});

test.each([0, 999, -999, 4_000, -4_000])('BILL-13 a clock that differs by %d ms stays the own one', (skewMs) => {
  const { clock, own, call, pass } = scene(skewMs);
  for (let turn = 0; turn < 20; turn += 1) {
    call(turn * 50);
    pass(333);
    expect([clock.now(), clock.skewMs()]).toEqual([own.now(), 0]);
  }
});

test('BILL-13 replies that differ only by their error leave the correction unchanged', () => {
  const { clock, call, pass } = scene(HOUR_MS);
  call();
  const learnt = clock.skewMs();
  for (let turn = 0; turn < 20; turn += 1) {
    pass(237);
    call(turn * 100);
    expect(clock.skewMs()).toBe(learnt);
  }
});

test('BILL-13 a step of the clock is corrected by the next reply, and its end as well', () => {
  const { clock, own, time, call } = scene(0);
  call();
  own.skip(HOUR_MS);
  call();
  expect(Math.abs(clock.now() - time.storeMs)).toBeLessThanOrEqual(500);
  own.skip(-HOUR_MS);
  call();
  expect([clock.now(), clock.skewMs()]).toEqual([own.now(), 0]);
});

test('BILL-13 a reply during which the clock stepped says nothing', () => {
  const { clock, own, call } = scene(0);
  call(20, () => own.skip(HOUR_MS));
  expect(clock.skewMs()).toBe(0);
  call();
  expect(Math.abs(clock.skewMs() - HOUR_MS)).toBeLessThanOrEqual(500);
});

test('BILL-13 a reply to a process that was suspended meanwhile says nothing', () => {
  const suspendedWithClock = scene(0);
  suspendedWithClock.call(20, () => suspendedWithClock.pass(HOUR_MS));
  expect(suspendedWithClock.clock.skewMs()).toBe(0);
  // A monotonic clock can stop while the process is suspended.
  const { clock, own, time, call } = scene(0);
  call(20, () => {
    time.storeMs += HOUR_MS;
    own.skip(HOUR_MS);
  });
  expect(clock.skewMs()).toBe(0);
});

test.each([undefined, 'yesterday'])('BILL-13 a reply with the date %s says nothing', (date) => {
  const { clock } = scene(HOUR_MS);
  clock.startSample()(date);
  expect(clock.skewMs()).toBe(0);
});

test('GEN-10 a clock that gets too far from the store is reported once', () => {
  const { clock, problems, call, own } = scene(SKEW_MS_MAX + 1_000);
  call();
  call();
  expect(problems).toEqual([skewProblemOf(clock.skewMs())]);
  own.skip(-HOUR_MS);
  call();
  own.skip(HOUR_MS - SKEW_MS_MAX);
  call();
  expect(problems).toHaveLength(1);
  own.skip(-HOUR_MS);
  call();
  expect(problems).toHaveLength(2);
});

test('GEN-10 a difference above a minute is a problem that names its direction', () => {
  expect([skewProblemOf(SKEW_MS_MAX), skewProblemOf(-SKEW_MS_MAX)]).toEqual([undefined, undefined]);
  expect(skewProblemOf(HOUR_MS)).toBe('the clock of this process is 3600 s ahead of the store');
  expect(skewProblemOf(-HOUR_MS)).toBe('the clock of this process is 3600 s behind the store');
});
