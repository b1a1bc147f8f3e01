import { expect, test } from 'vitest';
import { BodyBudget, type MemoryLease } from '../../../lambdas/http/body-budget.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const FREE = 64 * 1024;

/** A budget of 400 bytes, so that a quarter has 100. */
const opened = () => {
  const clock = new ManualClock();
  const budget = new BodyBudget(400, clock);
  const events: string[] = [];
  /** Reserves this many bytes, and records the result under the name. */
  const reserve = async (name: string, lease: MemoryLease, bytes: number): Promise<void> => {
    Promise.resolve(lease.reserve(bytes)).then(
      () => events.push(name),
      (error: { code: string; retryAfterSeconds: number }) =>
        events.push(`${name}: ${error.code} ${error.retryAfterSeconds}`),
    );
    await clock.flush();
  };
  /** Opens memory and reserves this many bytes above the free ones. */
  const open = async (name: string, owner: string, bytes: number): Promise<MemoryLease> => {
    const lease = budget.open([owner]);
    await reserve(name, lease, FREE + bytes);
    return lease;
  };
  return { clock, budget, events, reserve, open };
};

test('GEN-14 memory with room is reserved without a wait, and its first 64 KiB are free', () => {
  const { budget } = opened();
  const [large, small] = [budget.open(['a']), budget.open(['a'])];
  expect(large.reserve(FREE + 1_000)).toBeUndefined();
  expect(small.reserve(FREE)).toBeUndefined();
  expect(small.reserve(1)).toBeInstanceOf(Promise);
});

test('GEN-14 memory above the quarter of its account waits, while a stranger gets memory', async () => {
  const { clock, events, open } = opened();
  const first = await open('first', 'a', 60);
  first.settle(FREE + 60);
  await open('second', 'a', 60);
  await open('stranger', 'b', 60);
  expect(events).toEqual(['first', 'stranger']);
  first.end();
  await clock.flush();
  expect(events).toEqual(['first', 'stranger', 'second']);
});

test('GEN-14 memory that waits for 10 s gets 503 with Retry-After 1, and takes nothing later', async () => {
  const { clock, events, open } = opened();
  const first = await open('first', 'a', 60);
  first.settle(FREE + 60);
  const second = await open('second', 'a', 60);
  await clock.advance(10_000);
  expect(events).toEqual(['first', 'second: service_unavailable 1']);
  second.end();
  first.end();
  await open('third', 'a', 90);
  expect(events.at(-1)).toBe('third');
});

test('GEN-14 memory that turns out smaller makes room, and larger memory never waits', async () => {
  const { clock, events, open } = opened();
  const first = await open('first', 'a', 90);
  await open('second', 'a', 60);
  first.settle(FREE + 10);
  await clock.flush();
  expect(events).toEqual(['first', 'second']);
  first.settle(FREE + 1_000);
  await open('third', 'a', 1);
  expect(events).toEqual(['first', 'second']);
});

test('GEN-14 requests that need more and more memory do not block each other', async () => {
  const { clock, events, open, reserve } = opened();
  const first = await open('first', 'a', 40);
  const second = await open('second', 'a', 40);
  await reserve('second again', second, 40);
  await reserve('first again', first, 40);
  expect(events).toEqual(['first', 'second', 'first again']);
  first.end();
  await clock.flush();
  expect(events).toEqual(['first', 'second', 'first again', 'second again']);
});

test('GEN-14 memory above the quarter is reserved alone', async () => {
  const { clock, events, open } = opened();
  const first = await open('first', 'a', 10);
  first.settle(FREE + 10);
  const huge = await open('huge', 'a', 150);
  expect(events).toEqual(['first']);
  first.end();
  await clock.flush();
  huge.settle(FREE + 150);
  await open('third', 'a', 1);
  expect(events).toEqual(['first', 'huge']);
});

test('GEN-14 complete bodies and memory share the budget of the process', async () => {
  const { budget, clock, events, open } = opened();
  const bodies = ['a', 'b', 'c', 'd'].map((owner) => budget.enter([owner], FREE + 99));
  for (const body of bodies) {
    await body.grow(FREE + 99);
    body.whole();
  }
  await open('images', 'e', 50);
  expect(events).toEqual([]);
  bodies[0]?.end();
  await clock.flush();
  expect(events).toEqual(['images']);
});

test('GEN-14 responses that no client reads leave the whole budget to bodies', async () => {
  const { budget, clock, events, open, reserve } = opened();
  for (const owner of ['a', 'b', 'c']) {
    const response = budget.openResponse([owner], 30_000);
    await reserve(`response of ${owner}`, response, FREE + 90);
    response.settle(FREE + 90);
  }
  const bodies = ['d', 'e', 'f', 'g'].map((owner) => budget.enter([owner], FREE + 90));
  expect(bodies.map((body) => body.grow(FREE + 90))).toEqual(bodies.map(() => undefined));
  await open('images', 'h', 30);
  expect(events).toEqual(['response of a', 'response of b', 'images']);
  await clock.advance(30_000);
  expect(events.at(-1)).toBe('response of c: service_unavailable 1');
});

test('GEN-14 memory of a request that ended while it waited is never taken', async () => {
  const { clock, open } = opened();
  const first = await open('first', 'a', 60);
  const second = await open('second', 'a', 60);
  second.end();
  first.end();
  await clock.advance(10_000);
  const third = await open('third', 'a', 99);
  expect(third.reserve(0)).toBeUndefined();
  expect(clock.waiting).toBe(0);
});

test('GEN-14 memory that ends twice is released once', async () => {
  const { events, open } = opened();
  const first = await open('first', 'a', 60);
  const second = await open('second', 'a', 30);
  second.settle(FREE + 30);
  first.end();
  first.end();
  await open('third', 'a', 90);
  expect(events).toEqual(['first', 'second']);
});

test('GEN-14 memory that waits for the quarter of its account lets bodies of others arrive', async () => {
  const { budget, clock, events, open } = opened();
  const first = await open('first', 'a', 90);
  first.settle(FREE + 90);
  await open('second', 'a', 60);
  const bodies = ['b', 'c', 'd', 'e'].map((owner) => budget.enter([owner], FREE + 99));
  for (const body of bodies) await body.grow(FREE + 77);
  Promise.resolve(bodies[0]?.grow(22)).then(() => events.push('oldest body'));
  await clock.flush();
  expect(events).toEqual(['first', 'oldest body']);
});
