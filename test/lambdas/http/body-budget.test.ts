import { expect, test } from 'vitest';
import { BodyBudget, type BodyLease } from '../../../lambdas/http/body-budget.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const FREE = 64 * 1024;

const opened = (bytes: number) => {
  const clock = new ManualClock();
  const budget = new BodyBudget(bytes, clock);
  const events: string[] = [];
  let owners = 0;
  /** Grows the lease by this many bytes, and records the result under the name. */
  const grow = (name: string, lease: BodyLease, bytesMore: number): Promise<void> => {
    const pending = Promise.resolve(lease.grow(bytesMore));
    pending.then(
      () => events.push(name),
      (error: { code: string; retryAfterSeconds: number }) =>
        events.push(`${name}: ${error.code} ${error.retryAfterSeconds}`),
    );
    return pending;
  };
  /** Enters a body of a new owner, so that no share limits it. */
  const enter = async (): Promise<BodyLease> => {
    owners += 1;
    const lease = budget.enter([`owner ${owners}`]);
    await lease.reserve();
    await lease.grow(FREE);
    return lease;
  };
  const holding = async (more: number): Promise<BodyLease> => {
    const lease = await enter();
    await lease.grow(more);
    return lease;
  };
  /** Reserves a body that declares this many bytes above the free ones, and records the result under the name. */
  const declare = async (name: string, owner: string | readonly string[], bytes?: number): Promise<BodyLease> => {
    const lease = budget.enter([owner].flat(), bytes === undefined ? undefined : FREE + bytes);
    Promise.resolve(lease.reserve()).then(
      () => events.push(name),
      (error: { code: string }) => events.push(`${name}: ${error.code}`),
    );
    await clock.flush();
    return lease;
  };
  return { clock, budget, events, enter, grow, holding, declare };
};

test('GEN-14 a small body never waits, even without free budget', async () => {
  const { budget, holding } = opened(100);
  await holding(1_000);
  await holding(0);
  const small = budget.enter(['small']);
  await small.grow(1);
  await small.grow(FREE - 1);
});

test('GEN-14 only bytes above the free part count, also when one piece crosses it', async () => {
  const { budget, clock, events, grow, holding } = opened(100);
  await holding(60);
  const crossing = budget.enter(['crossing']);
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

test('GEN-14 after the oldest body is complete, the next one continues above the budget', async () => {
  const { clock, events, grow, holding } = opened(100);
  const first = await holding(60);
  const second = await holding(30);
  await holding(9);
  grow('second', second, 5).catch(() => undefined);
  await clock.flush();
  expect(events).toEqual([]);
  first.whole();
  await clock.flush();
  expect(events).toEqual(['second']);
});

test('GEN-14 the oldest incomplete body waits for room that complete bodies take', async () => {
  const { clock, events, grow, holding } = opened(100);
  const first = await holding(60);
  const second = await holding(20);
  first.whole();
  grow('second', second, 20).catch(() => undefined);
  await clock.flush();
  expect([events, clock.waiting]).toEqual([[], 1]);
  first.end();
  await clock.flush();
  expect([events, clock.waiting]).toEqual([['second'], 0]);
});

test('GEN-14 one complete body after the other never exceeds the budget', async () => {
  const { clock, events, enter, grow } = opened(100);
  for (const name of ['a', 'b', 'c', 'd']) {
    const lease = await enter();
    grow(name, lease, 40)
      .then(lease.whole)
      .catch(() => undefined);
    await clock.flush();
  }
  expect([events, clock.waiting]).toEqual([['a', 'b'], 2]);
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

test('GEN-14 an owner above its quarter waits unread, while a stranger is read', async () => {
  const { clock, events, declare } = opened(100);
  const first = await declare('a1', 'a', 15);
  await declare('a2', 'a', 10);
  await declare('a3', 'a', 1);
  await declare('b1', 'b', 25);
  expect([events, clock.waiting]).toEqual([['a1', 'a2', 'b1'], 1]);
  first.end();
  await clock.flush();
  expect([events, clock.waiting]).toEqual([['a1', 'a2', 'b1', 'a3'], 0]);
});

test('GEN-14 a body that waits for the quarter of its owner for 10 s gets 503', async () => {
  const { clock, events, declare } = opened(100);
  await declare('a1', 'a', 25);
  await declare('a2', 'a', 1);
  await clock.advance(9_999);
  expect(events).toEqual(['a1']);
  await clock.advance(1);
  expect([events, clock.waiting]).toEqual([['a1', 'a2: service_unavailable'], 0]);
});

test('GEN-14 a body above the quarter is read alone', async () => {
  const { clock, events, declare, grow } = opened(100);
  const first = await declare('a1', 'a', 60);
  const second = await declare('a2', 'a', 60);
  await first.grow(FREE + 60);
  first.whole();
  await clock.flush();
  expect(events).toEqual(['a1']);
  first.end();
  await clock.flush();
  await grow('a2 read', second, FREE + 60);
  expect(events).toEqual(['a1', 'a2', 'a2 read']);
});

test('GEN-14 the oldest body of the process does not exceed the quarter of its owner', async () => {
  const { clock, events, declare, grow } = opened(100);
  const oldest = await declare('a1', 'a', 10);
  const other = await declare('a2', 'a', 10);
  await oldest.grow(FREE + 10);
  grow('a1 read', oldest, 6).catch(() => undefined);
  await clock.flush();
  expect(events).toEqual(['a1', 'a2']);
  other.end();
  await clock.flush();
  expect(events).toEqual(['a1', 'a2', 'a1 read']);
});

test('GEN-14 a complete body counts with its bytes, not with its declared length', async () => {
  const { clock, events, declare } = opened(100);
  const first = await declare('a1', 'a');
  await declare('a2', 'a', 20);
  await first.grow(FREE + 5);
  expect(events).toEqual(['a1']);
  first.whole();
  await clock.flush();
  expect(events).toEqual(['a1', 'a2']);
  await declare('a3', 'a', 1);
  expect(events).toEqual(['a1', 'a2']);
});

test('GEN-14 a body without a declared length counts as the longest from its 65,537th byte', async () => {
  const { budget, clock, events, declare } = opened(100);
  const first = budget.enter(['a']);
  await first.grow(FREE);
  await declare('a1', 'a', 25);
  first.grow(1)?.catch(() => undefined);
  await clock.flush();
  expect([events, clock.waiting]).toEqual([['a1'], 1]);
});

test('GEN-14 a body of two owners waits for the quarters of both', async () => {
  const { clock, events, declare } = opened(100);
  const account = await declare('account', 'account', 25);
  const address = await declare('address', 'address', 25);
  await declare('both', ['account', 'address'], 25);
  account.end();
  await clock.flush();
  expect(events).toEqual(['account', 'address']);
  address.end();
  await clock.flush();
  expect(events).toEqual(['account', 'address', 'both']);
  await declare('account again', 'account', 1);
  await declare('address again', 'address', 1);
  expect(clock.waiting).toBe(2);
});

test('GEN-14 a body that waits for its owner does not keep the place of the oldest body', async () => {
  const { clock, events, declare, grow, holding } = opened(100);
  const first = await declare('a1', 'a', 25);
  await first.grow(FREE + 25);
  first.whole();
  await declare('a2', 'a', 1);
  const next = await declare('b1', 'b', 40);
  await holding(70);
  await grow('b1 read', next, FREE + 40);
  expect([events, clock.waiting]).toEqual([['a1', 'b1', 'b1 read'], 1]);
});

/** A body of this owner that has arrived and then needs `more` bytes for its values. Records its name when it has them. */
const parsed = async ({ declare, events, clock }: ReturnType<typeof opened>, name: string, more: number) => {
  const lease = await declare(`${name} reserved`, name.charAt(0), 1);
  await lease.grow(FREE + 1);
  lease.expand(more).then(
    () => {
      events.push(name);
      lease.whole();
    },
    (error: { code: string }) => events.push(`${name}: ${error.code}`),
  );
  await clock.flush();
  return lease;
};

test('GEN-14 the values of the bodies of one owner need at most a quarter, or one body has them alone', async () => {
  const budget = opened(100);
  const { clock, events } = budget;
  const first = await parsed(budget, 'a1', 40);
  await parsed(budget, 'a2', 5);
  await parsed(budget, 'b1', 20);
  await parsed(budget, 'b2', 5);
  await parsed(budget, 'b3', 1);
  expect(events.filter((event) => !event.includes('reserved'))).toEqual(['a1', 'b1', 'b2']);
  first.end();
  await clock.flush();
  expect(events.slice(-1)).toEqual(['a2']);
  await clock.advance(10_000);
  expect(events.slice(-1)).toEqual(['b3: service_unavailable']);
});

test('GEN-14 the values of a body do not count toward the quarter of its bytes', async () => {
  const budget = opened(100);
  await parsed(budget, 'a1', 40);
  await budget.declare('a2', 'a', 20);
  expect(budget.events.slice(-1)).toEqual(['a2']);
});

test('GEN-14 a body whose values wait for its owner does not keep the place of the oldest body', async () => {
  const budget = opened(100);
  const { events, clock, declare, grow, holding } = budget;
  await parsed(budget, 'a1', 20);
  await parsed(budget, 'a2', 20);
  const next = await declare('b1', 'b', 60);
  await holding(50);
  await grow('b1 read', next, FREE + 60);
  expect([events.slice(-1), clock.waiting]).toEqual([['b1 read'], 1]);
});
