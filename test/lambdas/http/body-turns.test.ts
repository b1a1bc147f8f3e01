import { expect, test } from 'vitest';
import type { Clock } from '../../../lambdas/core/clock.ts';
import { BodyTurns } from '../../../lambdas/http/body-turns.ts';

/** A clock that moves with the work. `next` waits for the next timer, and returns false without one. */
const workClock = () => {
  let nowMs = 0;
  const timers: { readonly dueMs: number; readonly callback: () => void }[] = [];
  const clock: Clock = {
    now: () => nowMs,
    after: (delayMs, callback) => {
      timers.push({ dueMs: nowMs + delayMs, callback });
      return () => undefined;
    },
  };
  const next = (): boolean => {
    const timer = timers.shift();
    if (!timer) return false;
    nowMs = Math.max(nowMs, timer.dueMs);
    timer.callback();
    return true;
  };
  return { clock, next, move: (ms: number) => (nowMs += ms) };
};

/** Turns whose steps take one millisecond each. `order` has the name of the body of each step. */
const scene = () => {
  const { clock, next, move } = workClock();
  const turns = new BodyTurns(clock);
  const order: string[] = [];
  function* work(name: string, steps: number): Generator<undefined, string> {
    for (let step = 1; step <= steps; step += 1) {
      order.push(name);
      move(1);
      if (step < steps) yield;
    }
    return name;
  }
  const run = (name: string, steps: number, owners: readonly string[] = [name]) => turns.run(owners, work(name, steps));
  const runAll = (): void => {
    while (next());
  };
  return { clock, turns, next, move, run, runAll, order };
};

const five = (name: string): readonly string[] => Array.from({ length: 5 }, () => name);

test('GEN-17 a body gets its first turn immediately, and pauses after each 5 ms', async () => {
  const { run, next, order } = scene();
  const done = run('one', 12);
  expect(order).toHaveLength(5);
  next();
  expect(order).toHaveLength(10);
  next();
  expect(order).toHaveLength(12);
  expect(await done).toBe('one');
});

test('GEN-17 the next turn belongs to the body whose owners have used the least', () => {
  const { run, runAll, order } = scene();
  run('large', 20);
  run('other', 5);
  run('small', 5);
  runAll();
  expect(order).toEqual(['large', 'other', 'small', 'large', 'large', 'large'].flatMap(five));
});

test('GEN-17 an account goes before others on its client IP that have used more', () => {
  const { run, runAll, order } = scene();
  run('first', 10, ['account#1', 'address']);
  run('again', 5, ['account#1', 'address']);
  run('stranger', 5, ['account#2', 'address']);
  runAll();
  expect(order.slice(5, 10)).toEqual(five('stranger'));
});

test('GEN-17 after 250 ms an owner waits as long as each turn took, until its use is forgotten', () => {
  const { clock, run, runAll, next, move, order } = scene();
  const pauseOf = (): number => {
    const length = order.length;
    run('one', 10);
    expect(order).toHaveLength(length + 5);
    const endedAtMs = clock.now();
    while (order.length < length + 10) next();
    const pauseMs = clock.now() - endedAtMs - 5;
    runAll();
    return pauseMs;
  };
  expect(pauseOf()).toBe(0);
  run('one', 300);
  runAll();
  expect(pauseOf()).toBe(5);
  move(60_000);
  expect(pauseOf()).toBe(0);
});

test('GEN-17 a turn includes the checks of the request after the body is parsed', () => {
  const { clock, run, runAll, move, next } = scene();
  run('one', 1);
  move(300);
  next();
  const beganAtMs = clock.now();
  runAll();
  expect(clock.now() - beganAtMs).toBe(301);
});

test('GEN-17 an error of one body reaches its request, and the next body continues', async () => {
  const { turns, run, runAll } = scene();
  const broken = (function* (): Generator<undefined, string> {
    yield;
    throw new Error('broken');
  })();
  const failed = turns.run(['one'], broken);
  const next = run('two', 3);
  runAll();
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('two');
});

test('GEN-17 a clock that is set back by an hour delays no body', () => {
  const { clock, run, runAll, move, order } = scene();
  run('one', 300);
  runAll();
  move(-3_600_000);
  const beganAtMs = clock.now();
  run('one', 3);
  runAll();
  expect(order).toHaveLength(303);
  expect(clock.now() - beganAtMs).toBeLessThan(20);
});
