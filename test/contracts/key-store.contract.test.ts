import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketOf } from '../../lambdas/core/limits/gcra.ts';
import { countPassed, type LimitSubject, limitSubjects } from './limit-subjects.ts';

const NOW = Date.UTC(2026, 10, 1) * 1_000;
const bucket = bucketOf(10, 15);
const INTERVAL = 100_000;

describe.each(limitSubjects)('the key store $name', ({ open }) => {
  let subject: LimitSubject;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  const newKey = async (): Promise<string> => {
    count += 1;
    const hash = `hash-${count}`;
    await subject.put(hash, `account-${count}`);
    return hash;
  };
  const take = (hash: string, nowMicros = NOW) => subject.keys.take(hash, bucket, nowMicros);
  const takeMany = (hash: string, times: number, nowMicros = NOW): Promise<number> =>
    countPassed(times, async () => (await take(hash, nowMicros)).kind === 'taken');

  test('AUTH-4 a known key is identified and spends one request', async () => {
    const hash = await newKey();
    const key = { accountId: `account-${count}`, status: 'active', blocked: false };
    expect(await take(hash)).toEqual({ kind: 'taken', key: { ...key, tatMicros: NOW + INTERVAL } });
    expect(await take(hash)).toEqual({ kind: 'taken', key: { ...key, tatMicros: NOW + 2 * INTERVAL } });
    expect(await subject.keys.read(hash)).toEqual({ ...key, tatMicros: NOW + 2 * INTERVAL });
  });

  test('AUTH-5 an unknown key is told apart, and looking it up creates no item', async () => {
    const before = await subject.countKeys();
    expect(await take('nobody')).toEqual({ kind: 'unknown' });
    expect(await take('nobody')).toEqual({ kind: 'unknown' });
    expect(await subject.keys.read('nobody')).toBeUndefined();
    expect(await subject.countKeys()).toBe(before);
  });

  test('AUTH-5 a revoked key is refused from the next request on, shown as revoked, and spends nothing', async () => {
    const idle = await newKey();
    const busy = await newKey();
    await take(busy);
    const before = await subject.keys.read(busy);
    for (const hash of [idle, busy]) {
      await subject.revoke(hash);
      expect(await take(hash)).toMatchObject({ kind: 'refused', key: { status: 'revoked' } });
    }
    expect(await subject.keys.read(busy)).toEqual({ ...before, status: 'revoked' });
    expect(await subject.keys.read(idle)).toMatchObject({ status: 'revoked', tatMicros: 0 });
  });

  test('AUTH-5 a key revoked amid its own requests serves none that starts after the revocation', async () => {
    const hash = await newKey();
    const early = Array.from({ length: 5 }, () => take(hash));
    await subject.revoke(hash);
    expect(await takeMany(hash, 10, NOW + 1_000_000)).toBe(0);
    await Promise.all(early);
  });

  test('AUTH-4 a blocked key is shown as blocked and still spends its rate', async () => {
    const hash = await newKey();
    await subject.block(hash);
    expect(await take(hash)).toMatchObject({ kind: 'taken', key: { blocked: true, tatMicros: NOW + INTERVAL } });
  });

  test('LIM-2 of 1,000 requests at one instant exactly 15 are let through', { timeout: 30_000 }, async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 1_000)).toBe(15);
    expect(await take(hash)).toMatchObject({ kind: 'refused', key: { tatMicros: NOW + 15 * INTERVAL } });
  });

  test('LIM-2 an empty bucket gives one request back every tenth of a second', async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 20)).toBe(15);
    expect(await takeMany(hash, 3, NOW + INTERVAL - 1)).toBe(0);
    expect(await takeMany(hash, 3, NOW + INTERVAL)).toBe(1);
    expect(await takeMany(hash, 20, NOW + 6 * INTERVAL)).toBe(5);
    expect(await takeMany(hash, 40, NOW + 100 * INTERVAL)).toBe(15);
  });

  test('LIM-2 a clock that is behind spends no more than the bucket has', async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 15)).toBe(15);
    expect(await takeMany(hash, 5, NOW - 10 * INTERVAL)).toBe(0);
    expect(await takeMany(hash, 5)).toBe(0);
  });

  test('LIM-2 keys do not share a bucket', async () => {
    const [one, other] = [await newKey(), await newKey()];
    expect(await takeMany(one, 20)).toBe(15);
    expect(await takeMany(other, 20)).toBe(15);
  });
});
