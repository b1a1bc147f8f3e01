import { beforeAll, describe, expect, test } from 'vitest';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { bucketOf, type NowMicros } from '../../lambdas/core/limits/rate-limit.ts';
import { countPassed, type LimitSubject, limitSubjects } from './limit-subjects.ts';

const NOW = Date.UTC(2026, 10, 1) * 1_000;
const bucket = bucketOf(10, 15);
const INTERVAL = 100_000;

/** Time that passes after it was read for the first write. */
const moving = (laterMicros: number): NowMicros => {
  let reads = 0;
  return () => {
    reads += 1;
    return reads === 1 ? NOW : laterMicros;
  };
};

describe.each(limitSubjects)('the key store $name', ({ open }) => {
  let subject: LimitSubject;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
  });

  const newKey = async (): Promise<string> => {
    count += 1;
    const hash = `hash-${count}`;
    await subject.put(hash, `account-${count}`);
    return hash;
  };
  const take = (hash: string, nowMicros = NOW) => subject.keys.take(hash, bucket, () => nowMicros);
  const takeMany = (hash: string, times: number, nowMicros = NOW): Promise<number> =>
    countPassed(times, async () => (await take(hash, nowMicros)).kind === 'taken');

  test('AUTH-4 a known key is identified and spends one request', async () => {
    const hash = await newKey();
    const key = { keyId: keyIdOf(hash), accountId: `account-${count}`, status: 'active', blocked: false };
    expect(await take(hash)).toEqual({ kind: 'taken', key: { ...key, tatMicros: NOW + INTERVAL } });
    expect(await take(hash)).toEqual({ kind: 'taken', key: { ...key, tatMicros: NOW + 2 * INTERVAL } });
    expect(await subject.keys.read(hash)).toEqual({ ...key, tatMicros: NOW + 2 * INTERVAL });
  });

  test('AUTH-5 looking up an unknown key returns unknown and creates no item', async () => {
    const before = await subject.countKeys();
    expect(await take('unknown')).toEqual({ kind: 'unknown' });
    expect(await take('unknown')).toEqual({ kind: 'unknown' });
    expect(await subject.keys.read('unknown')).toBeUndefined();
    expect(await subject.countKeys()).toBe(before);
  });

  test('AUTH-5 a revoked key is rejected from the next request on and uses no rate', async () => {
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

  test('AUTH-5 a key that is revoked during its requests admits none that starts later', async () => {
    const hash = await newKey();
    const early = Array.from({ length: 5 }, () => take(hash));
    await subject.revoke(hash);
    expect(await takeMany(hash, 10, NOW + 1_000_000)).toBe(0);
    await Promise.all(early);
  });

  test('AUTH-4 a blocked key is returned as blocked and still uses its rate', async () => {
    const hash = await newKey();
    await subject.block(hash);
    expect(await take(hash)).toMatchObject({ kind: 'taken', key: { blocked: true, tatMicros: NOW + INTERVAL } });
  });

  test('LIM-2 exactly 15 of 40 concurrent requests pass', async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 40)).toBe(15);
    expect(await take(hash)).toMatchObject({ kind: 'refused', key: { tatMicros: NOW + 15 * INTERVAL } });
  });

  test('LIM-2 an empty bucket refills by one request every tenth of a second', async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 15)).toBe(15);
    expect(await takeMany(hash, 3, NOW + INTERVAL - 1)).toBe(0);
    expect(await takeMany(hash, 3, NOW + INTERVAL)).toBe(1);
    expect(await takeMany(hash, 8, NOW + 6 * INTERVAL)).toBe(5);
    expect(await takeMany(hash, 20, NOW + 100 * INTERVAL)).toBe(15);
  });

  test('LIM-2 a clock that is behind takes no more than the bucket has', async () => {
    const hash = await newKey();
    expect(await takeMany(hash, 15)).toBe(15);
    expect(await takeMany(hash, 5, NOW - 9 * INTERVAL)).toBe(0);
    expect(await takeMany(hash, 5)).toBe(0);
    expect(await takeMany(await newKey(), 16)).toBe(15);
  });

  test('LIM-2 a refusal by the time of a late write is decided by the time of its reply', async () => {
    const hash = await newKey();
    await takeMany(hash, 15);
    const late = await subject.keys.take(hash, bucket, moving(NOW + 15 * INTERVAL));
    expect(late).toMatchObject({ kind: 'taken', key: { tatMicros: NOW + 16 * INTERVAL } });
    const busy = await subject.keys.take(hash, bucket, moving(NOW + 2 * INTERVAL));
    expect(busy).toMatchObject({ kind: 'taken', key: { tatMicros: NOW + 17 * INTERVAL } });
    const full = await subject.keys.take(hash, bucket, moving(NOW + 3 * INTERVAL - 1));
    expect(full).toMatchObject({ kind: 'refused', key: { tatMicros: NOW + 17 * INTERVAL } });
  });

  test.each([-2_000_000, -10_000_000, -3_600_000_000, -30 * 86_400_000_000])(
    'LIM-2 a clock set back by %i microseconds lets a key wait one interval',
    async (stepMicros) => {
      const hash = await newKey();
      await takeMany(hash, 15);
      const back = NOW + stepMicros;
      expect(await takeMany(hash, 20, back)).toBe(0);
      expect(await take(hash, back)).toMatchObject({ kind: 'refused', key: { tatMicros: back + 15 * INTERVAL } });
      expect(await takeMany(hash, 5, back + INTERVAL - 1)).toBe(0);
      expect(await takeMany(hash, 5, back + INTERVAL)).toBe(1);
      expect(await takeMany(hash, 20, back + 100 * INTERVAL)).toBe(15);
    },
  );

  test('KEY-8 a clock set back lets a key of one request in 10 s wait at most 10 s', async () => {
    const slow = bucketOf(0.1, 1);
    const hash = await newKey();
    const takeSlow = async (nowMicros: number) => (await subject.keys.take(hash, slow, () => nowMicros)).kind;
    expect(await takeSlow(NOW)).toBe('taken');
    for (const stepMicros of [-1_000_000, -3_600_000_000, -86_400_000_000]) {
      const back = NOW + stepMicros;
      expect(await takeSlow(back)).toBe('refused');
      expect(await takeSlow(back + 9_999_999)).toBe('refused');
      expect(await takeSlow(back + 10_000_000)).toBe('taken');
    }
  });

  test('LIM-2 a clock that is behind by less than a second shares one rate with the others', async () => {
    const hash = await newKey();
    let passed = 0;
    for (let step = 0; step < 100; step += 1) {
      const nowMicros = NOW + (step * INTERVAL) / 10;
      passed += await takeMany(hash, 2, nowMicros);
      passed += await takeMany(hash, 2, nowMicros - 900_000);
    }
    expect(passed).toBeLessThanOrEqual(15 + 10);
    expect(passed).toBeGreaterThanOrEqual(15 + 9);
  });

  test('LIM-2 a take reads the time when it writes, not when it is called', async () => {
    const hash = await newKey();
    await takeMany(hash, 15);
    let nowMicros = NOW;
    const pending = subject.keys.take(hash, bucket, () => nowMicros);
    nowMicros += 15 * INTERVAL;
    expect(await pending).toMatchObject({ kind: 'taken', key: { tatMicros: NOW + 16 * INTERVAL } });
  });
});

describe.each(limitSubjects)('the address counters $name', ({ open }) => {
  let subject: LimitSubject;
  beforeAll(async () => {
    subject = await open();
  });

  const takeMany = (address: string, times: number, nowMicros = NOW): Promise<number> =>
    countPassed(times, () => subject.counters.take(address, bucket, () => nowMicros));

  test('LIM-1 an unknown address passes exactly the burst, and addresses share no bucket', async () => {
    expect(await takeMany('192.0.2.1', 40)).toBe(15);
    expect(await takeMany('192.0.2.1', 10)).toBe(0);
    expect(await takeMany('192.0.2.2', 1)).toBe(1);
  });

  test('LIM-1 an empty bucket refills at its rate, up to its burst', async () => {
    await takeMany('192.0.2.3', 15);
    expect(await takeMany('192.0.2.3', 3, NOW + INTERVAL - 1)).toBe(0);
    expect(await takeMany('192.0.2.3', 3, NOW + INTERVAL)).toBe(1);
    expect(await takeMany('192.0.2.3', 8, NOW + 6 * INTERVAL)).toBe(5);
    expect(await takeMany('192.0.2.3', 20, NOW + 100 * INTERVAL)).toBe(15);
  });

  test('LIM-1 a refusal by the time of a late write is decided by the time of its reply', async () => {
    await takeMany('192.0.2.5', 15);
    const take = (laterMicros: number) => subject.counters.take('192.0.2.5', bucket, moving(laterMicros));
    expect(await take(NOW + 15 * INTERVAL)).toBe(true);
    expect(await take(NOW + 2 * INTERVAL)).toBe(true);
    expect(await take(NOW + 3 * INTERVAL - 1)).toBe(false);
  });

  test('LIM-1 a clock set back lets a client IP wait one interval', async () => {
    expect(await takeMany('192.0.2.6', 20)).toBe(15);
    for (const stepMicros of [-10_000_000, -3_600_000_000, -30 * 86_400_000_000]) {
      const back = NOW + stepMicros;
      expect(await takeMany('192.0.2.6', 20, back)).toBe(0);
      expect(await takeMany('192.0.2.6', 5, back + INTERVAL - 1)).toBe(0);
      expect(await takeMany('192.0.2.6', 5, back + INTERVAL)).toBe(1);
    }
  });

  test('LIM-1 concurrent requests with different clock times get at most burst plus refill', async () => {
    const instants = Array.from({ length: 20 }, (_, index) => NOW + (index * INTERVAL) / 5);
    const taken = await Promise.all(instants.map((nowMicros) => takeMany('192.0.2.4', 3, nowMicros)));
    const sum = taken.reduce((total, part) => total + part, 0);
    expect(sum).toBeGreaterThanOrEqual(15);
    expect(sum).toBeLessThanOrEqual(15 + 3);
  });
});
