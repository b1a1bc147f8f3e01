import { describe, expect, test } from 'vitest';
import { type AdmissionDependencies, admit, admitAddress } from '../../../../lambdas/core/accounts/admit.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import { hashApiKey, keyIdOf, makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { AddressLimit, bucketOf, microsOf, ProcessBuckets } from '../../../../lambdas/core/limits/rate-limit.ts';
import {
  createMoment,
  type FaultScript,
  fails,
  losesReply,
  throttled,
  withCounterFaults,
  withKeyFaults,
} from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const offered = (credential: string | undefined) => ({ credential, param: 'Authorization', advice: 'Send it.' });

const PEPPER = 'a pepper for tests';
const KEY = makeApiKey(new Uint8Array(32).fill(1));
const HASH = hashApiKey(PEPPER, KEY);
const UNKNOWN = makeApiKey(new Uint8Array(32).fill(2));
const addressBucket = bucketOf(30, 60);
const keyBucket = bucketOf(10, 15);

const createScene = async (faults: FaultScript<keyof KeyStore> = {}, counterFaults: FaultScript<'take'> = {}) => {
  const clock = new ManualClock();
  const memory = new MemoryKeyStore(new MemoryLedgerStore());
  await memory.put(HASH, 'account-1');
  const shared = new MemoryAddressCounters();
  const counters = withCounterFaults(shared, counterFaults);
  const keys = withKeyFaults(memory, faults);
  const deps: AdmissionDependencies = {
    addressLimit: new AddressLimit(addressBucket, counters, clock),
    keyBucket,
    keyBuckets: new ProcessBuckets(keyBucket),
    keys,
    records: new MemoryLedgerStore(),
    pepper: PEPPER,
    olderPeppers: [],
    clock,
  };
  return { clock, memory, shared, counters, keys, deps };
};
type Scene = Awaited<ReturnType<typeof createScene>>;

const refusal = async (pending: Promise<unknown>): Promise<GatewayError> => {
  const error: unknown = await pending.catch((thrown: unknown) => thrown);
  if (error instanceof GatewayError) return error;
  throw new Error('expected a GatewayError');
};
const admitOrError = (deps: AdmissionDependencies) =>
  admit(deps, 'a', offered(KEY)).catch((error: unknown) => ({ error }));
const codeOf = async (scene: Scene, credential: string | undefined, address = 'a') =>
  (await refusal(admit(scene.deps, address, offered(credential)))).code;
const fillSharedAddress = async ({ shared, clock }: Scene) => {
  for (let index = 0; index < 60; index += 1) await shared.take('a', addressBucket, microsOf(clock));
};
const fillKey = async ({ memory, clock }: Scene) => {
  for (let index = 0; index < 15; index += 1) await memory.take(HASH, keyBucket, microsOf(clock));
};

test('AUTH-4 a known key is admitted with its account and rate', async () => {
  const { deps } = await createScene();
  expect(await admit(deps, 'a', offered(KEY))).toEqual({
    accountId: 'account-1',
    key: expect.objectContaining({ keyId: keyIdOf(HASH), accountId: 'account-1', status: 'active' }),
    rate: { limit: 15, remaining: 14, resetSeconds: 0.1 },
    estimate: { value: 1, raise: expect.any(Function) },
    allowance: { picos: 0n, refresh: expect.any(Function) },
  });
});

test('KEY-9 a key with a cap is admitted with its id, and the kind and epoch of its cap', async () => {
  const { deps, keys } = await createScene();
  const take: KeyStore['take'] = async (...call) => {
    const reply = await keys.take(...call);
    return reply.kind === 'unknown' ? reply : { ...reply, key: { ...reply.key, cap: { kind: 'day', epoch: 7 } } };
  };
  const admitted = await admit({ ...deps, keys: { ...keys, take } }, 'a', offered(KEY));
  expect(admitted.cap).toEqual({ keyId: keyIdOf(HASH), kind: 'day', epoch: 7 });
});

test('BILL-20 the call that admits a key also returns its estimate factor, which decays', async () => {
  const { deps, keys, clock } = await createScene();
  const { estimate } = await admit(deps, 'a', offered(KEY));
  await estimate.raise(3);
  const factors = [];
  for (let day = 0; day < 7; day += 1) {
    factors.push((await admit(deps, 'a', offered(KEY))).estimate.value);
    await clock.advance(86_400_000);
  }
  expect(factors).toEqual([3, 2, 1.5, 1.25, 1.13, 1.06, 1]);
  expect(keys.calls.filter((call) => call !== 'take')).toEqual(['raiseFactor', 'ring']);
});

test('BILL-20 a key that is only read keeps its estimate factor', async () => {
  const { deps } = await createScene({ take: [undefined, fails] });
  await (await admit(deps, 'a', offered(KEY))).estimate.raise(2.5);
  expect((await admit(deps, 'a', offered(KEY))).estimate.value).toBe(2.5);
});

test('AUTH-4 each invalid credential gets its own code, and only well-formed keys are looked up', async () => {
  const scene = await createScene();
  expect(await codeOf(scene, undefined)).toBe('missing_api_key');
  expect(await codeOf(scene, '')).toBe('missing_api_key');
  expect(await codeOf(scene, 'sk-proj-something')).toBe('invalid_api_key');
  expect(await codeOf(scene, `${KEY}x`)).toBe('invalid_api_key');
  expect(scene.keys.calls).toEqual([]);
  expect(scene.counters.calls).toHaveLength(4);
  expect(await codeOf(scene, UNKNOWN)).toBe('invalid_api_key');
  expect(scene.keys.calls).toEqual(['take']);
  expect(scene.memory.size).toBe(1);
});

test('AUTH-4 a rotated key gets 401 revoked_api_key and a blocked account gets 403', async () => {
  const scene = await createScene();
  await scene.memory.setBlocked(HASH, true);
  expect(await refusal(admit(scene.deps, 'a', offered(KEY)))).toMatchObject({ code: 'account_blocked', status: 403 });
  await scene.memory.revoke(HASH);
  expect(await refusal(admit(scene.deps, 'a', offered(KEY)))).toMatchObject({ code: 'revoked_api_key', status: 401 });
});

test('ERR-2 every 401 for an API key has x-should-retry: false', async () => {
  const scene = await createScene();
  await scene.memory.revoke(HASH);
  for (const key of [undefined, 'sk-proj-something', UNKNOWN, KEY]) {
    expect(await refusal(admit(scene.deps, 'a', offered(key)))).toMatchObject({
      status: 401,
      headers: { 'x-should-retry': 'false' },
    });
  }
});

test('LIM-2 15 of 40 simultaneous requests with one key are admitted, the others get 429', async () => {
  const { deps } = await createScene();
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => admit(deps, 'a', offered(KEY))));
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
  expect(await refusal(admit(deps, 'a', offered(KEY)))).toMatchObject({
    code: 'rate_limit_exceeded',
    status: 429,
    retryAfterSeconds: 1,
    headers: {
      'x-ratelimit-limit-requests': '15',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1.5s',
    },
  });
});

test.each([1_500, 10_000, 3_600_000, 40 * 86_400_000])(
  'LIM-2 two processes with clocks %i ms apart admit at most the rate of each with one key',
  async (apartMs) => {
    const { deps } = await createScene();
    const start = deps.clock.now();
    let nowMs = start;
    const all = [0, apartMs].map((aheadMs) => {
      const clock = { now: () => nowMs + aheadMs, after: () => () => undefined };
      const addressLimit = new AddressLimit(addressBucket, new MemoryAddressCounters(), clock);
      return { ...deps, addressLimit, clock, keyBuckets: new ProcessBuckets(keyBucket) };
    });
    let admitted = 0;
    for (; nowMs < start + 30_000; nowMs += 20) {
      for (const process of all) if (!('error' in (await admitOrError(process)))) admitted += 1;
    }
    expect(admitted).toBeLessThanOrEqual(2 * (2 * 15 + 30 * 10));
    expect(admitted).toBeGreaterThanOrEqual(30 * 10);
  },
);

test('LIM-2 a process admits no more with a key than its own bucket has, and says when to retry', async () => {
  const { deps, memory } = await createScene();
  const admitIdle = async () => {
    // Another process, whose clock is behind, has replaced the time of the bucket.
    await memory.take(HASH, keyBucket, () => 0);
    return admitOrError(deps);
  };
  for (let index = 0; index < 30; index += 1) expect(await admitIdle()).not.toHaveProperty('error');
  expect(await admitIdle()).toMatchObject({
    error: {
      code: 'rate_limit_exceeded',
      retryAfterSeconds: 1,
      headers: { 'x-ratelimit-limit-requests': '15', 'x-ratelimit-remaining-requests': '0' },
    },
  });
});

describe('GEN-8 order of the checks: client IP, key, rate, account', () => {
  test('GEN-8 the process rejects a client IP over its limit before any lookup', async () => {
    const scene = await createScene();
    for (let index = 0; index < 60; index += 1) scene.deps.addressLimit.takeLocal('a');
    const error = await refusal(admit(scene.deps, 'a', offered(undefined)));
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 });
    expect(error.message).toContain('client IP');
    expect([...scene.keys.calls, ...scene.counters.calls]).toEqual([]);
  });

  test.each([
    ['no key', undefined],
    ['an unknown key', UNKNOWN],
    ['a revoked key', KEY],
  ])('GEN-8 the shared limit of the client IP precedes %s', async (_name, credential) => {
    const scene = await createScene();
    await scene.memory.revoke(HASH);
    await fillSharedAddress(scene);
    expect((await refusal(admit(scene.deps, 'a', offered(credential)))).message).toContain('client IP');
  });

  test('GEN-8 a client IP over its limit gets 429 even if the key store fails first', async () => {
    const moment = createMoment();
    const delayed = { take: [{ kind: 'delayed', until: moment.until }] } as const;
    const scene = await createScene({ take: fails, read: fails }, delayed);
    await fillSharedAddress(scene);
    const pending = refusal(admit(scene.deps, 'a', offered(KEY)));
    await scene.clock.flush();
    moment.come();
    expect((await pending).code).toBe('rate_limit_exceeded');
  });

  test('GEN-8 a revoked key is reported before an exceeded rate', async () => {
    const scene = await createScene();
    await fillKey(scene);
    await scene.memory.revoke(HASH);
    expect(await codeOf(scene, KEY)).toBe('revoked_api_key');
  });

  test('GEN-8 an exceeded rate is reported before a blocked account', async () => {
    const scene = await createScene();
    await fillKey(scene);
    await scene.memory.setBlocked(HASH, true);
    expect(await codeOf(scene, KEY)).toBe('rate_limit_exceeded');
  });
});

describe("LIM-4 failed updates of the key's rate", () => {
  test.each([
    ['no connection', fails],
    ['throttling', throttled],
    ['a lost reply', losesReply],
  ])('LIM-4 %s: one read identifies the key, and the process limits its rate', async (_name, fault) => {
    const scene = await createScene({ take: fault });
    const admitted = await admit(scene.deps, 'a', offered(KEY));
    expect(admitted).toMatchObject({ accountId: 'account-1', rate: { limit: 15, remaining: 14, resetSeconds: 0.1 } });
    expect(scene.keys.calls).toEqual(['take', 'read']);
    for (let index = 0; index < 14; index += 1) await admit(scene.deps, 'a', offered(KEY));
    expect(await codeOf(scene, KEY)).toBe('rate_limit_exceeded');
    await scene.clock.advance(100);
    expect(await admit(scene.deps, 'a', offered(KEY))).toMatchObject({ rate: { remaining: 0 } });
  });

  test('LIM-4 unknown, revoked and blocked keys still get different codes', async () => {
    const scene = await createScene({ take: fails });
    expect(await codeOf(scene, UNKNOWN)).toBe('invalid_api_key');
    await scene.memory.setBlocked(HASH, true);
    expect(await codeOf(scene, KEY)).toBe('account_blocked');
    await scene.memory.revoke(HASH);
    expect(await codeOf(scene, KEY)).toBe('revoked_api_key');
  });

  test('BILL-14 if both the update and the read fail, the request gets 503', async () => {
    const scene = await createScene({ take: fails, read: fails });
    expect(await refusal(admit(scene.deps, 'a', offered(KEY)))).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      retryAfterSeconds: 30,
    });
    expect(scene.keys.calls).toEqual(['take', 'read']);
  });
});

test('LIM-4 the request waits for the key store, however slow it is', async () => {
  const moment = createMoment();
  const scene = await createScene({ take: [{ kind: 'delayed', until: moment.until }] });
  const pending = admit(scene.deps, 'a', offered(KEY));
  await scene.clock.advance(60_000);
  moment.come();
  expect(await pending).toMatchObject({ accountId: 'account-1' });
});

test('AUTH-6 a request without a key is limited only by its client IP, in process and store', async () => {
  const scene = await createScene();
  await admitAddress(scene.deps, 'a');
  await fillSharedAddress(scene);
  expect(await refusal(admitAddress(scene.deps, 'a'))).toMatchObject({ code: 'rate_limit_exceeded' });
  for (let index = 0; index < 60; index += 1) scene.deps.addressLimit.takeLocal('b');
  const calls = scene.counters.calls.length;
  expect(await refusal(admitAddress(scene.deps, 'b'))).toMatchObject({ status: 429, retryAfterSeconds: 1 });
  expect(scene.counters.calls).toHaveLength(calls);
  expect(scene.keys.calls).toEqual([]);
});
