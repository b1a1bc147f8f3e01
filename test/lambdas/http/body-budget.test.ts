import { expect, test } from 'vitest';
import { BodyBudget, type BodyLease } from '../../../lambdas/http/body-budget.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const opened = (bytes: number) => {
  const clock = new ManualClock();
  const budget = new BodyBudget(bytes, clock);
  const events: string[] = [];
  const noted = <T>(name: string, pending: Promise<T>): Promise<T> => {
    pending.then(
      () => events.push(name),
      (error: { code: string; retryAfterSeconds: number }) =>
        events.push(`${name}: ${error.code} ${error.retryAfterSeconds}`),
    );
    return pending;
  };
  const enter = (name: string): Promise<BodyLease> => noted(`${name} in`, budget.enter());
  const grow = (name: string, lease: BodyLease, more: number): Promise<void> =>
    noted(`${name} +${more}`, lease.grow(more));
  const holding = async (more: number): Promise<BodyLease> => {
    const lease = await budget.enter();
    await lease.grow(more);
    return lease;
  };
  return { clock, budget, events, enter, grow, holding };
};

test('GEN-14 what is announced counts for nothing, only what has come in', async () => {
  const { enter, events } = opened(10);
  for (const name of ['a', 'b', 'c']) await enter(name);
  expect(events).toEqual(['a in', 'b in', 'c in']);
});

test('GEN-14 beyond the budget a request waits, and comes in when there is room', async () => {
  const { clock, enter, events, holding } = opened(100);
  const held = await holding(100);
  const pending = enter('b');
  await clock.advance(5_000);
  expect(events).toEqual([]);
  held.end();
  await pending;
  expect([events, clock.waiting]).toEqual([['b in'], 0]);
});

test('GEN-14 after 10 s of waiting: 503 with Retry-After 1', async () => {
  const { clock, enter, events, holding } = opened(100);
  await holding(100);
  enter('b').catch(() => undefined);
  await clock.advance(9_999);
  expect(events).toEqual([]);
  await clock.advance(1);
  expect([events, clock.waiting]).toEqual([['b in: service_unavailable 1'], 0]);
});

test('GEN-14 what gave up holds nothing and is not let in later', async () => {
  const { clock, enter, events, holding } = opened(100);
  const held = await holding(100);
  enter('b').catch(() => undefined);
  await clock.advance(10_000);
  held.end();
  await holding(0);
  const last = await holding(99);
  last.end();
  expect(events).toEqual(['b in: service_unavailable 1']);
});

test('GEN-14 the oldest body always goes on, however long it is', async () => {
  const { clock, enter, events, holding, grow } = opened(100);
  const oldest = await holding(50);
  await grow('oldest', oldest, 500);
  const pending = enter('b');
  await clock.flush();
  expect(events).toEqual(['oldest +500']);
  oldest.end();
  await pending;
});

test('GEN-14 of bodies that are halfway only the oldest goes on; when it ends the next one does', async () => {
  const { clock, events, holding, grow } = opened(100);
  const [a, b, c] = [await holding(30), await holding(30), await holding(30)];
  const pending = [grow('c', c, 60), grow('b', b, 60), grow('a', a, 60)];
  await clock.flush();
  expect(events).toEqual(['a +60']);
  a.end();
  await clock.flush();
  expect(events).toEqual(['a +60', 'b +60']);
  b.end();
  await Promise.all(pending);
  expect(events).toEqual(['a +60', 'b +60', 'c +60']);
  expect(clock.waiting).toBe(0);
});

test('GEN-14 a body that waits halfway for 10 s is refused and gives back what it had', async () => {
  const { clock, events, holding, grow } = opened(100);
  const oldest = await holding(50);
  const other = await holding(40);
  grow('other', other, 20).catch(() => undefined);
  await clock.advance(10_000);
  expect(events).toEqual(['other +20: service_unavailable 1']);
  other.end();
  await grow('third', await holding(0), 49);
  oldest.end();
});

test('GEN-14 ending twice gives back once', async () => {
  const { clock, events, holding, grow } = opened(100);
  const oldest = await holding(40);
  const other = await holding(40);
  other.end();
  other.end();
  const third = await holding(40);
  void grow('third', third, 30);
  await clock.flush();
  expect(events).toEqual([]);
  oldest.end();
});
