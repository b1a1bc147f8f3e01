import { expect, test } from 'vitest';
import { BodyBudget, type BodyLease } from '../../../lambdas/http/body-budget.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const FREE = 64 * 1024;

const opened = (bytes: number) => {
  const clock = new ManualClock();
  const budget = new BodyBudget(bytes, clock);
  const events: string[] = [];
  /** Grows the lease by this many bytes, and records the result under the name. */
  const grow = (name: string, lease: BodyLease, bytesMore: number): Promise<void> => {
    const pending = lease.grow(bytesMore);
    pending.then(
      () => events.push(name),
      (error: { code: string; retryAfterSeconds: number }) =>
        events.push(`${name}: ${error.code} ${error.retryAfterSeconds}`),
    );
    return pending;
  };
  const enter = async (): Promise<BodyLease> => {
    const lease = budget.enter();
    await lease.grow(FREE);
    return lease;
  };
  const holding = async (more: number): Promise<BodyLease> => {
    const lease = await enter();
    await lease.grow(more);
    return lease;
  };
  return { clock, budget, events, enter, grow, holding };
};

test('GEN-14 a small body never waits, even without free budget', async () => {
  const { budget, holding } = opened(100);
  await holding(1_000);
  await holding(0);
  const small = budget.enter();
  await small.grow(1);
  await small.grow(FREE - 1);
});

test('GEN-14 only bytes above the free part count, also when one piece crosses it', async () => {
  const { budget, clock, events, grow, holding } = opened(100);
  await holding(60);
  const crossing = budget.enter();
  await crossing.grow(FREE + 30);
  grow('b', crossing, 20).catch(() => undefined);
  await clock.flush();
  expect([events, clock.waiting]).toEqual([[], 1]);
});

test('GEN-14 a body above the budget waits, and continues when there is room', async () => {
  const { clock, enter, events, grow, holding } = opened(100);
  const held = await holding(100);
  const pending = grow('b', await enter(), 10);
  await clock.advance(5_000);
  expect(events).toEqual([]);
  held.end();
  await pending;
  expect([events, clock.waiting]).toEqual([['b'], 0]);
});

test('GEN-14 a body that waits for 10 s gets 503 with Retry-After 1', async () => {
  const { clock, enter, events, grow, holding } = opened(100);
  await holding(100);
  grow('b', await enter(), 10).catch(() => undefined);
  await clock.advance(9_999);
  expect(events).toEqual([]);
  await clock.advance(1);
  expect([events, clock.waiting]).toEqual([['b: service_unavailable 1'], 0]);
});

test('GEN-14 a body whose wait timed out does not count and is not admitted later', async () => {
  const { clock, enter, events, grow, holding } = opened(100);
  const held = await holding(100);
  const late = await enter();
  grow('b', late, 10).catch(() => undefined);
  await clock.advance(10_000);
  late.end();
  held.end();
  const next = await holding(90);
  next.end();
  expect(events).toEqual(['b: service_unavailable 1']);
});

test('GEN-14 the oldest incomplete body continues above the budget, so that one can finish', async () => {
  const { clock, events, grow, holding } = opened(100);
  const oldest = await holding(50);
  const second = await holding(49);
  grow('second', second, 60).catch(() => undefined);
  await grow('oldest', oldest, 60);
  await clock.flush();
  expect(events).toEqual(['oldest']);
  oldest.end();
  await clock.flush();
  expect(events).toEqual(['oldest', 'second']);
});

test('GEN-14 a complete body no longer counts as the oldest, but its bytes still count', async () => {
  const { clock, events, grow, holding } = opened(100);
  const first = await holding(90);
  const second = await holding(5);
  grow('second', second, 20).catch(() => undefined);
  await clock.flush();
  expect(events).toEqual([]);
  first.whole();
  await clock.flush();
  expect(events).toEqual(['second']);
  const third = await holding(0);
  grow('third', third, 20).catch(() => undefined);
  await clock.flush();
  expect(events).toEqual(['second']);
});

test('GEN-14 a lease that ends twice releases its bytes once', async () => {
  const { clock, enter, events, grow, holding } = opened(100);
  const one = await holding(50);
  await holding(49);
  one.end();
  one.end();
  await enter();
  const other = await enter();
  grow('other', other, 60).catch(() => undefined);
  await clock.flush();
  expect(events).toEqual([]);
});
