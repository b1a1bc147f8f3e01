import { expect, test } from 'vitest';
import { isRestricted, keyBucketOf } from '../../../../lambdas/core/accounts/key-ring.ts';
import { bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';

const every = bucketOf(10, 15);

test.each([
  [10, 100_000, 15],
  [5, 200_000, 7],
  [2.5, 400_000, 3],
  [1, 1_000_000, 1],
  [0.1, 10_000_000, 1],
])(
  'KEY-8 a rate of %d per second has its interval and a burst of 1.5 times the rate',
  (rate, intervalMicros, burst) => {
    expect(keyBucketOf(every, { rate })).toEqual({ intervalMicros, burst });
  },
);

test('KEY-8 an own rate is never above that of every key, and a key without one has that', () => {
  expect(keyBucketOf(every, { rate: 20 })).toEqual(every);
  expect(keyBucketOf(every, {})).toBe(every);
});

test('KEY-8 each restriction makes a key restricted', () => {
  const limits = [{ expiresAtMs: 0 }, { models: [] }, { rate: 1 }, { cap: { kind: 'total', epoch: 0 } }] as const;
  expect(limits.map(isRestricted)).toEqual([true, true, true, true]);
  expect(isRestricted({})).toBe(false);
});
