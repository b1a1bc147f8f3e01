import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketOf } from '../../lambdas/core/limits/gcra.ts';
import { countPassed, type LimitSubject, limitSubjects } from './limit-subjects.ts';

const NOW = Date.UTC(2026, 10, 1) * 1_000;
const bucket = bucketOf(30, 60);

describe.each(limitSubjects)('the address counters $name', ({ open }) => {
  let subject: LimitSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  const takeMany = (address: string, times: number, nowMicros = NOW): Promise<number> =>
    countPassed(times, () => subject.counters.take(address, bucket, nowMicros));

  test('LIM-1 of 1,000 requests at one instant exactly 60 are let through', { timeout: 30_000 }, async () => {
    expect(await takeMany('192.0.2.1', 1_000)).toBe(60);
    expect(await takeMany('192.0.2.1', 10)).toBe(0);
  });

  test('LIM-1 an address is let in without having been seen, and addresses do not share a bucket', async () => {
    expect(await takeMany('192.0.2.2', 61)).toBe(60);
    expect(await takeMany('192.0.2.3', 1)).toBe(1);
  });

  test('LIM-1 an empty bucket is refilled at 30 a second', async () => {
    await takeMany('192.0.2.4', 60);
    expect(await takeMany('192.0.2.4', 5, NOW + 33_000)).toBe(0);
    expect(await takeMany('192.0.2.4', 5, NOW + 33_334)).toBe(1);
    expect(await takeMany('192.0.2.4', 60, NOW + 1_033_334)).toBe(29);
    expect(await takeMany('192.0.2.4', 100, NOW + 60_000_000)).toBe(60);
  });

  test('LIM-1 requests at several instants at once take no more than burst and refill together', async () => {
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => takeMany('192.0.2.5', 10, NOW + index * 10_000)),
    );
    const sum = taken.reduce((total, part) => total + part, 0);
    expect(sum).toBeGreaterThanOrEqual(60);
    expect(sum).toBeLessThanOrEqual(60 + 6);
  });
});
