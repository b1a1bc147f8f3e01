import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bucketOf,
  describe as describeBucket,
  latestTatMicros,
  ProcessBuckets,
  secondsUntilAllowed,
  take,
} from '../../../../lambdas/core/limits/rate-limit.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const NOW = Date.UTC(2026, 10, 1) * 1_000;
const runs = randomRuns(import.meta.filename, { quick: 200, long: 20_000 });

const buckets = fc
  .record({ perSecond: fc.integer({ min: 1, max: 1_000 }), burst: fc.integer({ min: 1, max: 100 }) })
  .map(({ perSecond, burst }) => ({ perSecond, burst, bucket: bucketOf(perSecond, burst) }));
const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000_000 })), { maxLength: 300 });

/** Returns the time of each request and whether it was admitted. */
const play = (bucket: ReturnType<typeof bucketOf>, gapsMicros: readonly number[]) => {
  let nowMicros = NOW;
  let tatMicros = 0;
  return gapsMicros.map((gap) => {
    nowMicros += gap;
    const verdict = take(bucket, tatMicros, nowMicros);
    tatMicros = verdict.tatMicros;
    return { nowMicros, allowed: verdict.allowed };
  });
};

test('LIM-1 a window admits at most burst + rate x elapsed + 1 requests', () => {
  fc.assert(
    fc.property(buckets, gaps, ({ perSecond, burst, bucket }, gapsMicros) => {
      const passed = play(bucket, gapsMicros).filter(({ allowed }) => allowed);
      for (const [first, from] of passed.entries()) {
        for (const [last, to] of passed.entries()) {
          if (last < first) continue;
          const elapsedSeconds = (to.nowMicros - from.nowMicros) / 1_000_000;
          expect(last - first + 1).toBeLessThanOrEqual(burst + perSecond * elapsedSeconds + 1);
        }
      }
    }),
    runs,
  );
});

test('LIM-1 a client that keeps to the rate is always admitted', () => {
  fc.assert(
    fc.property(buckets, gaps, ({ bucket }, gapsMicros) => {
      const steady = gapsMicros.map((gap) => gap + bucket.intervalMicros);
      expect(play(bucket, steady).every(({ allowed }) => allowed)).toBe(true);
    }),
    runs,
  );
});

test('LIM-3 a full bucket allows a request after the seconds that it names, and not one before', () => {
  const bucket = bucketOf(0.4, 2);
  const tatMicros = NOW + 5_000_001;
  const seconds = secondsUntilAllowed(bucket, tatMicros, NOW);
  expect(seconds).toBe(3);
  expect(take(bucket, tatMicros, NOW + seconds * 1_000_000).allowed).toBe(true);
  expect(take(bucket, tatMicros, NOW + (seconds - 1) * 1_000_000).allowed).toBe(false);
  expect(secondsUntilAllowed(bucket, NOW, NOW)).toBe(1);
});

test('LIM-1 a bucket unused for burst x interval has its whole burst again', () => {
  fc.assert(
    fc.property(buckets, gaps, ({ burst, bucket }, gapsMicros) => {
      const again = Array.from({ length: burst + 1 }, (_, index) => (index === 0 ? burst * bucket.intervalMicros : 0));
      const verdicts = play(bucket, [...gapsMicros, ...again]).slice(gapsMicros.length);
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([...Array(burst).fill(true), false]);
    }),
    runs,
  );
});

test.each([
  ['LIM-1', 30, 60],
  ['LIM-2', 10, 15],
])('%s at %i/s admits exactly the burst of %i at one instant', (_rule, perSecond, burst) => {
  const bucket = bucketOf(perSecond, burst);
  const passed = play(bucket, Array(1_000).fill(0)).filter(({ allowed }) => allowed);
  expect(passed).toHaveLength(burst);
});

test('LIM-1 a request exactly at the bound is admitted, and a rejection changes nothing', () => {
  const bucket = bucketOf(10, 15);
  const latest = latestTatMicros(bucket, NOW);
  expect(take(bucket, latest, NOW)).toEqual({ allowed: true, tatMicros: latest + 100_000 });
  expect(take(bucket, latest + 1, NOW)).toEqual({ allowed: false, tatMicros: latest + 1 });
});

const rates = fc
  .record({ perSecond: fc.constantFrom(0.1, 0.4, 1, 10, 30), burst: fc.integer({ min: 1, max: 60 }) })
  .map(({ perSecond, burst }) => bucketOf(perSecond, burst));

test('LIM-2 however far ahead a stored time is, the next request waits one interval or 1 s', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 0, max: 4e15 }), (bucket, aheadMicros) => {
      const { allowed, tatMicros } = take(bucket, NOW + aheadMicros, NOW);
      const waitMicros = Math.max(bucket.intervalMicros, 1_000_000);
      expect(allowed || take(bucket, tatMicros, NOW + waitMicros).allowed).toBe(true);
      const seconds = secondsUntilAllowed(bucket, NOW + aheadMicros, NOW);
      expect(seconds).toBeLessThanOrEqual(Math.ceil(waitMicros / 1_000_000));
      expect(allowed || take(bucket, tatMicros, NOW + seconds * 1_000_000).allowed).toBe(true);
      const { resetSeconds, remaining } = describeBucket(bucket, NOW + aheadMicros, NOW);
      expect(resetSeconds).toBeLessThanOrEqual((bucket.burst * bucket.intervalMicros) / 1_000_000 + 1);
      expect(remaining > 0).toBe(allowed);
    }),
    runs,
  );
});

test('LIM-2 a time further ahead than a second beyond the burst becomes the time after a burst', () => {
  const bucket = bucketOf(10, 15);
  const last = latestTatMicros(bucket, NOW) + 1_000_000;
  expect(take(bucket, last, NOW)).toEqual({ allowed: false, tatMicros: last });
  expect(take(bucket, last + 1, NOW)).toEqual({ allowed: false, tatMicros: NOW + 1_500_000 });
  const slow = bucketOf(0.1, 1);
  expect(take(slow, NOW + 10_000_000, NOW)).toEqual({ allowed: false, tatMicros: NOW + 10_000_000 });
  expect(take(slow, NOW + 10_000_001, NOW)).toEqual({ allowed: false, tatMicros: NOW + 10_000_000 });
});

test('LIM-4 the bucket of a process allows a request directly after its clock was set back', () => {
  const own = new ProcessBuckets(bucketOf(10, 2));
  const takeAt = (nowMicros: number) => own.take('one', nowMicros).allowed;
  expect([takeAt(NOW), takeAt(NOW), takeAt(NOW)]).toEqual([true, true, false]);
  const back = NOW - 3_600_000_000;
  expect([takeAt(back), takeAt(back), takeAt(back + 99_999), takeAt(back + 100_000)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test('LIM-5 a client gets the remaining requests and the time until the bucket is full', () => {
  const bucket = bucketOf(10, 15);
  expect(describeBucket(bucket, 0, NOW)).toEqual({ limit: 15, remaining: 15, resetSeconds: 0 });
  expect(describeBucket(bucket, NOW + 250_000, NOW)).toEqual({ limit: 15, remaining: 12, resetSeconds: 0.25 });
  expect(describeBucket(bucket, NOW + 1_500_000, NOW)).toEqual({ limit: 15, remaining: 0, resetSeconds: 1.5 });
  expect(describeBucket(bucket, NOW + 9_000_000, NOW)).toMatchObject({ remaining: 0 });
});

test('LIM-5 a request is admitted exactly when at least one request remains', () => {
  fc.assert(
    fc.property(buckets, fc.integer({ min: -10, max: 200_000_000 }), ({ bucket }, aheadMicros) => {
      const { remaining } = describeBucket(bucket, NOW + aheadMicros, NOW);
      expect(take(bucket, NOW + aheadMicros, NOW).allowed).toBe(remaining > 0);
    }),
    runs,
  );
});

test('LIM-4 the buckets of a process are independent, and the oldest are dropped first', () => {
  const own = new ProcessBuckets(bucketOf(10, 1));
  expect(own.take('kept', NOW).allowed).toBe(true);
  expect(own.take('first', NOW).allowed).toBe(true);
  expect(own.take('kept', NOW).allowed).toBe(false);
  for (let index = 0; index < 49_999; index += 1) own.take(`id-${index}`, NOW);
  expect(own.take('kept', NOW).allowed).toBe(false);
  expect(own.take('first', NOW).allowed).toBe(true);
});
