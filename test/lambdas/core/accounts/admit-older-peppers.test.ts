import { expect, test } from 'vitest';
import { type AdmissionDependencies, admit } from '../../../../lambdas/core/accounts/admit.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import { hashApiKey, makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { AddressLimit, bucketOf, ProcessBuckets } from '../../../../lambdas/core/limits/rate-limit.ts';
import { type FaultScript, fails, throttled, withKeyFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const peppers = { pepper: 'the newest pepper', olderPeppers: ['the older pepper', 'the oldest pepper'] };
const keyOf = (seed: number): string => makeApiKey(new Uint8Array(32).fill(seed));
const [NEW, OLDER, OLDEST, UNKNOWN] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)];
const hashes = {
  [NEW]: hashApiKey('the newest pepper', NEW),
  [OLDER]: hashApiKey('the older pepper', OLDER),
  [OLDEST]: hashApiKey('the oldest pepper', OLDEST),
};
const hashOf = (key: string): string => hashes[key] ?? '';

/** Stores one key per pepper, each for its own account. */
const createScene = async (faults: FaultScript<keyof KeyStore> = {}) => {
  const clock = new ManualClock();
  const memory = new MemoryKeyStore(new MemoryLedgerStore());
  for (const key of [NEW, OLDER, OLDEST]) await memory.put(hashOf(key), `account of ${key}`);
  const keys = withKeyFaults(memory, faults);
  const keyBucket = bucketOf(10, 15);
  const deps: AdmissionDependencies = {
    ...peppers,
    addressLimit: new AddressLimit(bucketOf(1_000, 1_000), new MemoryAddressCounters(), clock),
    keyBucket,
    keyBuckets: new ProcessBuckets(keyBucket),
    keys,
    records: new MemoryLedgerStore(),
    clock,
  };
  const ask = (credential: string) => admit(deps, 'a', { credential, param: 'Authorization', advice: 'Send it.' });
  return { clock, memory, keys, ask };
};

test.each([
  ['the newest', NEW, 1],
  ['an older', OLDER, 2],
  ['the oldest', OLDEST, 3],
])(
  'AUTH-5 a key under %s pepper is admitted after a lookup under it and each newer pepper',
  async (_name, key, calls) => {
    const { ask, keys } = await createScene();
    expect(await ask(key)).toMatchObject({ accountId: `account of ${key}`, rate: { remaining: 14 } });
    expect(keys.calls).toEqual(Array(calls).fill('take'));
  },
);

test('AUTH-5 a key that matches no pepper is looked up once per pepper and is invalid', async () => {
  const { ask, keys, memory } = await createScene();
  await expect(ask(UNKNOWN)).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect(keys.calls).toEqual(['take', 'take', 'take']);
  expect(memory.size).toBe(3);
});

test('LIM-2, AUTH-4, AUTH-5 a key under an older pepper can be rate-limited, blocked and revoked', async () => {
  const { ask, memory } = await createScene();
  for (let index = 0; index < 15; index += 1) await ask(OLDER);
  await expect(ask(OLDER)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await memory.setBlocked(hashOf(OLDEST), true);
  await expect(ask(OLDEST)).rejects.toMatchObject({ code: 'account_blocked' });
  await memory.revoke(hashOf(OLDER));
  await expect(ask(OLDER)).rejects.toMatchObject({ code: 'revoked_api_key' });
});

test.each([
  ['every update fails', fails],
  ['every update is throttled', throttled],
])('LIM-4, AUTH-5 %s: one read per pepper identifies the key, and the process limits its rate', async (_name, take) => {
  const { ask, keys } = await createScene({ take });
  expect(await ask(OLDER)).toMatchObject({ accountId: `account of ${OLDER}`, rate: { remaining: 14 } });
  expect(keys.calls).toEqual(['take', 'read', 'take', 'read']);
  for (let index = 0; index < 14; index += 1) await ask(OLDER);
  await expect(ask(OLDER)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await expect(ask(UNKNOWN)).rejects.toMatchObject({ code: 'invalid_api_key' });
});

test('LIM-4, AUTH-5 a failed update causes one read, and later updates still work', async () => {
  const { ask, keys } = await createScene({ take: [fails] });
  expect(await ask(OLDER)).toMatchObject({ accountId: `account of ${OLDER}` });
  expect(keys.calls).toEqual(['take', 'read', 'take']);
});

test('BILL-14, AUTH-5 a key gets 503, not 401, if the lookup under an older pepper fails', async () => {
  const { ask } = await createScene({ take: [undefined, fails], read: fails });
  await expect(ask(UNKNOWN)).rejects.toMatchObject({ code: 'service_unavailable' });
});
