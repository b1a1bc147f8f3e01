import { expect, test } from 'vitest';
import { LOOK_EVERY_MS, ProcessPauses } from '../../../lambdas/core/process-pauses.ts';

/** Two clocks that a test moves together or apart. */
const scene = () => {
  const at = { now: 1_700_000_000_000, monotonic: 5_000 };
  const pauses = new ProcessPauses({ now: () => at.now, monotonicMs: () => at.monotonic });
  const pass = (ms: number, monotonicMs = ms): void => {
    at.now += ms;
    at.monotonic += monotonicMs;
  };
  const run = (looks: number): void => {
    for (let look = 0; look < looks; look += 1) {
      pass(LOOK_EVERY_MS);
      pauses.look();
    }
  };
  return { pauses, pass, run };
};

test('FALL-1 a process that runs has no pause, also with late looks', () => {
  const { pauses, pass, run } = scene();
  const hasPaused = pauses.watch();
  run(100);
  pass(2_000);
  pauses.look();
  expect(hasPaused()).toBe(false);
});

test('FALL-1 a stopped process has a pause, which a late timer sees before the next look', () => {
  const { pauses, pass, run } = scene();
  run(3);
  const hasPaused = pauses.watch();
  pass(2_001);
  expect(hasPaused()).toBe(true);
  run(3);
  expect(hasPaused()).toBe(true);
});

test('FALL-1 a machine that slept has a pause although its monotonic clock stopped', () => {
  const { pauses, pass } = scene();
  const hasPaused = pauses.watch();
  pass(3_600_000, 10);
  pauses.look();
  expect(hasPaused()).toBe(true);
});

test('FALL-1 a clock that is set back is not a pause', () => {
  const { pauses, pass, run } = scene();
  const hasPaused = pauses.watch();
  pass(-3_600_000, 500);
  pauses.look();
  run(2);
  expect(hasPaused()).toBe(false);
});

test('FALL-1 a pause before a call does not concern the call', () => {
  const { pauses, pass, run } = scene();
  pass(60_000);
  const hasPaused = pauses.watch();
  run(3);
  expect(hasPaused()).toBe(false);
});
