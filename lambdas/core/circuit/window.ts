import type { BucketCount } from './circuit-store.ts';
import type { CircuitSettings } from './opening.ts';

const BUCKET_MS = 15_000;
/** Kept past the window, so that clocks may differ a little. */
const KEPT_MS = 120_000;

/** The bucket of this moment and the one before: together the last 15 to 30 s. */
export const windowStarts = (nowMs: number): readonly [current: number, previous: number] => {
  const current = nowMs - (nowMs % BUCKET_MS);
  return [current, current - BUCKET_MS];
};

export const bucketExpiry = (startMs: number): number => startMs + KEPT_MS;

const within = (buckets: readonly BucketCount[], nowMs: number): readonly BucketCount[] => {
  const starts: readonly number[] = windowStarts(nowMs);
  return buckets.filter(({ startMs }) => starts.includes(startMs));
};

export const holdsFailure = (buckets: readonly BucketCount[], nowMs: number): boolean =>
  within(buckets, nowMs).some(({ failures }) => failures > 0);

/** Enough calls, half of them failed, and not those of one account alone. */
export const opensForAll = (buckets: readonly BucketCount[], nowMs: number, { calls }: CircuitSettings): boolean => {
  const counted = within(buckets, nowMs);
  const failures = sum(counted.map((bucket) => bucket.failures));
  const successes = sum(counted.map((bucket) => bucket.successes));
  const accounts = new Set(counted.flatMap((bucket) => bucket.accounts));
  return failures + successes >= calls && failures >= successes && accounts.size >= 2;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
