import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { AddressLimit, bucketOf, microsOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { createMoment, type Fault, fails, throttled, withCounterFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';

const bucket = bucketOf(30, 60);
const never: Fault = { kind: 'delayed', until: new Promise(() => undefined) };

const scene = (faults: Fault | readonly (Fault | undefined)[] = [], shared = new MemoryAddressCounters()) => {
  const clock = new ManualClock();
  const counters = withCounterFaults(shared, { take: faults });
  return { clock, counters, shared, limit: new AddressLimit(bucket, counters, clock) };
};
const empty = async (shared: MemoryAddressCounters, address: string, clock: ManualClock) => {
  for (let index = 0; index < 60; index += 1) await shared.take(address, bucket, microsOf(clock));
};

test('LIM-1 the process admits 60 of 1000 simultaneous requests, without a store call', () => {
  const { limit, counters } = scene();
  const passed = Array.from({ length: 1_000 }, () => limit.takeLocal('a')).filter((allowed) => allowed);
  expect(passed).toHaveLength(60);
  expect(limit.takeLocal('b')).toBe(true);
  expect(counters.calls).toEqual([]);
});

test('LIM-1 requests admitted by other processes count as well', async () => {
  const { limit, shared, clock } = scene();
  await empty(shared, 'a', clock);
  expect(await limit.takeShared('a')).toBe(false);
  expect(await limit.takeShared('b')).toBe(true);
});

test('LIM-4 a store reply after 49 ms counts', async () => {
  const moment = createMoment();
  const { limit, shared, clock } = scene([{ kind: 'delayed', until: moment.until }]);
  // The clock of another process is ahead, so the bucket is still empty after 49 ms.
  await empty(shared, 'a', new ManualClock(clock.now() + 1_000));
  const verdict = limit.takeShared('a');
  await clock.advance(49);
  moment.come();
  expect(await verdict).toBe(false);
  expect(clock.waiting).toBe(0);
});

test('LIM-4 the limit waits 50 ms for the store and ignores a later rejection', async () => {
  const moment = createMoment();
  const { limit, shared, clock } = scene([{ kind: 'delayed', until: moment.until }]);
  await empty(shared, 'a', clock);
  let verdict: boolean | undefined;
  const pending = limit.takeShared('a').then((allowed) => {
    verdict = allowed;
  });
  await clock.advance(49);
  expect(verdict).toBeUndefined();
  await clock.advance(1);
  expect(verdict).toBe(true);
  moment.come();
  await pending;
  expect(verdict).toBe(true);
});

test.each([
  ['down', fails],
  ['slow', never],
])('LIM-4 after three failures of a store that is %s the limit does not call it for 5 s', async (_name, fault) => {
  const { limit, counters, clock } = scene([fault, fault, fault]);
  for (let index = 0; index < 3; index += 1) expect(await clock.until(limit.takeShared('a'))).toBe(true);
  expect(counters.calls).toHaveLength(3);
  await clock.advance(4_999);
  expect(await limit.takeShared('a')).toBe(true);
  expect(counters.calls).toHaveLength(3);
  await clock.advance(1);
  expect(await limit.takeShared('a')).toBe(true);
  expect(counters.calls).toHaveLength(4);
});

test('LIM-4 only consecutive failures count', async () => {
  const { limit, counters } = scene([fails, fails, undefined, fails, fails, undefined]);
  for (let index = 0; index < 7; index += 1) expect(await limit.takeShared('a')).toBe(true);
  expect(counters.calls).toHaveLength(7);
});

test('LIM-4 a throttled item always limits the request and is not counted as a store failure', async () => {
  const { limit, counters } = scene(throttled);
  for (let index = 0; index < 5; index += 1) expect(await limit.takeShared('a')).toBe(false);
  expect(counters.calls).toHaveLength(5);
});

test('LIM-4 an error that is not a StoreError is thrown', async () => {
  const broken = { take: () => Promise.reject(new TypeError('broken')) };
  const limit = new AddressLimit(bucket, broken, new ManualClock());
  await expect(limit.takeShared('a')).rejects.toThrow('broken');
});

/** Creates one limit per element of `aheadMs` on a shared store. Each clock is ahead by that many milliseconds. */
const processes = (aheadMs: readonly number[]) => {
  const shared = new MemoryAddressCounters();
  const base = new ManualClock().now();
  return aheadMs.map((ahead) => {
    const clock = new ManualClock(base + ahead);
    return { clock, limit: new AddressLimit(bucket, shared, clock) };
  });
};

/** Takes from the process's own bucket, and then from the shared bucket if the first is not empty. */
const passes = async (limit: AddressLimit): Promise<boolean> => limit.takeLocal('a') && (await limit.takeShared('a'));

const countPassed = async (all: ReturnType<typeof processes>, times: number): Promise<number> => {
  let passed = 0;
  for (let sent = 0; sent < times; sent += 1) {
    const { limit } = all[sent % all.length]!;
    if (await passes(limit)) passed += 1;
  }
  return passed;
};

test('LIM-1 three processes with equal clocks admit exactly 60 of 1000 simultaneous requests', async () => {
  expect(await countPassed(processes([0, 0, 0]), 1_000)).toBe(60);
});

test.each([[[0, 40, 100]], [[0, 400, 900]], [[-450, 0, 450]]])(
  'LIM-1 clocks ahead by %j ms admit at most the rate of their difference more, then the rate',
  async (ahead) => {
    const all = processes(ahead);
    const apartMs = Math.max(...ahead) - Math.min(...ahead);
    const most = 60 + Math.min(120, (30 * apartMs) / 1_000);
    const passed = await countPassed(all, 1_000);
    expect(passed).toBeGreaterThanOrEqual(60);
    expect(passed).toBeLessThanOrEqual(most);
    for (const { clock } of all) await clock.advance(1_000);
    const next = await countPassed(all, 1_000);
    expect(next).toBeGreaterThanOrEqual(29);
    expect(next).toBeLessThanOrEqual(31);
  },
);

test.each([1_500, 10_000, 3_600_000, 40 * 86_400_000])(
  'LIM-1 two clocks %i ms apart admit at most the rate of each process, however requests alternate',
  async (apartMs) => {
    const all = processes([0, apartMs]);
    const passed = [];
    for (let second = 0; second < 20; second += 1) {
      passed.push(await countPassed(all, 400));
      for (const { clock } of all) await clock.advance(1_000);
    }
    const [first = 0, ...later] = passed;
    expect(first).toBeLessThanOrEqual(2 * 60);
    expect(later.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(later.length * 2 * 30);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(29);
  },
);

test.each([1_000, 10_000, 3_600_000, 30 * 86_400_000])(
  'LIM-1 a full bucket passes its next request 34 ms after a clock is set back by %i ms',
  async (backMs) => {
    const shared = new MemoryAddressCounters();
    const start = new ManualClock().now();
    let nowMs = start;
    const clock = { now: () => nowMs, after: () => () => undefined };
    const limit = new AddressLimit(bucket, shared, clock);
    for (let sent = 0; sent < 60; sent += 1) expect(await passes(limit)).toBe(true);
    nowMs = start - backMs;
    await passes(limit);
    nowMs += backMs === 1_000 ? 1_034 : 34;
    expect(await passes(limit)).toBe(true);
  },
);

test('LIM-4 a pause that starts before the clock is set back ends with the correction', async () => {
  let nowMs = 10_000_000;
  const calls: string[] = [];
  const down = {
    take: (address: string) => {
      calls.push(address);
      return Promise.reject(new StoreError('unavailable', 'no reply'));
    },
  };
  const limit = new AddressLimit(bucket, down, { now: () => nowMs, after: () => () => undefined });
  for (let sent = 0; sent < 4; sent += 1) await limit.takeShared('a');
  expect(calls).toHaveLength(3);
  nowMs -= 3_600_000;
  await limit.takeShared('a');
  expect(calls).toHaveLength(4);
});

test('LIM-4 three processes with a failing store admit one burst each', async () => {
  const down = { take: () => Promise.reject(new StoreError('unavailable', 'no answer')) };
  const limits = [0, 1, 2].map(() => new AddressLimit(bucket, down, new ManualClock()));
  let passed = 0;
  for (let sent = 0; sent < 1_000; sent += 1) if (await passes(limits[sent % 3]!)) passed += 1;
  expect(passed).toBe(180);
});
