import { expect, test } from 'vitest';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import { raiseFactor } from '../../../../lambdas/core/accounts/raise-factor.ts';
import { keyNamed } from '../../../contracts/account-subjects.ts';
import { createMoment, type FaultScript, fails, withKeyFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const createScene = async (faults: FaultScript<keyof KeyStore> = {}) => {
  const clock = new ManualClock();
  const ledger = new MemoryLedgerStore();
  await ledger.createAccount('one', clock.now());
  const memory = new MemoryKeyStore(ledger);
  await memory.putFirstKey('one', keyNamed('old'), clock.now());
  const keys = withKeyFaults(memory, faults);
  const raise = (factor: number) => raiseFactor({ keys, clock }, { accountId: 'one', hash: 'old' }, factor);
  const factorOf = async (hash: string) => (await memory.read(hash))?.factor?.factor;
  const replace = () =>
    memory.replaceKey({ accountId: 'one', oldHash: 'old', key: keyNamed('new'), atMs: clock.now() });
  return { clock, memory, keys, raise, factorOf, replace };
};

test('BILL-20 an overage stores its factor with one write', async () => {
  const { raise, factorOf, keys } = await createScene();
  await raise(2.5);
  expect([await factorOf('old'), keys.calls]).toEqual([2.5, ['raiseFactor', 'ring']]);
});

test('BILL-20 a key that was replaced during the request passes the factor to the new key', async () => {
  const { raise, factorOf, replace } = await createScene();
  await replace();
  await raise(2.5);
  expect([await factorOf('old'), await factorOf('new')]).toEqual([2.5, 2.5]);
});

test('BILL-20 a revoked key without a successor keeps the factor for its successor', async () => {
  const { raise, factorOf, memory, replace } = await createScene();
  await memory.revokeKey('one', 'old');
  await raise(2.5);
  expect(await factorOf('old')).toBe(2.5);
  await replace();
  expect(await factorOf('new')).toBe(2.5);
});

test('BILL-20 a store that fails or hangs does not hold up the settlement', async () => {
  const failing = await createScene({ raiseFactor: fails });
  await failing.raise(2.5);
  const { until, come } = createMoment();
  const hanging = await createScene({ raiseFactor: { kind: 'delayed', until } });
  const startedAtMs = hanging.clock.now();
  await hanging.clock.until(hanging.raise(2.5));
  expect(hanging.clock.now() - startedAtMs).toBe(500);
  come();
});
