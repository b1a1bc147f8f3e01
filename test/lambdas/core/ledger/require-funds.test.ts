import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { type PlannedHold, requireFunds } from '../../../../lambdas/core/ledger/require-funds.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { ID, type LedgerScene, ledgerScene } from './ledger-scene.ts';

const ACCOUNT = 'account-1';
const planned: PlannedHold = { accountId: ACCOUNT, requestId: 'request-1', amountPicos: parseUsd('1') };

const worldOf = async (usd: string) => {
  const store = new MemoryLedgerStore();
  await store.createAccount(ACCOUNT, 0);
  if (usd !== '0')
    await store.credit({ accountId: ACCOUNT, ref: 'first', amountPicos: parseUsd(usd), reason: 'test', at: 0 });
  const clock = new ManualClock();
  const deps = { store, outbox: new MemoryOutbox(), clock, random: () => 0, shortestLifetimeMs: 1 };
  const hold = (holdId: string, amountUsd: string) =>
    store.hold({
      accountId: ACCOUNT,
      holdId,
      amountPicos: parseUsd(amountUsd),
      expiresAtMs: 1,
      sweepAtMs: 1,
      previousHoldId: undefined,
    });
  return {
    store,
    deps,
    hold,
    check: (changes: Partial<PlannedHold> = {}) => requireFunds(deps, { ...planned, ...changes }),
  };
};

test('GEN-8 an account that pays for the hold passes, and nothing is written', async () => {
  const { store, check } = await worldOf('1');
  const before = await store.readAccount(ACCOUNT);
  await expect(check()).resolves.toBeUndefined();
  expect(await store.readAccount(ACCOUNT)).toEqual(before);
});

test.for([
  ['0', '0', 'The balance is 0 USD'],
  ['0.99', '0', 'only 0.99 USD is available'],
  ['2', '1.5', 'only 0.5 USD is available'],
] as const)('GEN-8 402 of %s USD with %s USD held is that of the hold', async ([usd, held, words]) => {
  const { check, hold } = await worldOf(usd);
  if (held !== '0') await hold('other.0', held);
  const message = expect.stringContaining(words);
  await expect(check()).rejects.toMatchObject({ code: 'insufficient_balance', message });
});

test('GEN-8 a free request of an empty account is 402 before its images', async () => {
  await expect((await worldOf('0')).check({ amountPicos: 0n })).rejects.toMatchObject({ code: 'insufficient_balance' });
});

test('BILL-6 an account that pays for a smaller hold passes', async () => {
  const { check } = await worldOf('0.5');
  await expect(check({ smaller: (availablePicos) => availablePicos })).resolves.toBeUndefined();
  await expect(check({ smaller: () => undefined })).rejects.toMatchObject({ code: 'insufficient_balance' });
});

test('LIM-8 an account with 200 holds is 429 before its images', async () => {
  const { check, hold } = await worldOf('10');
  for (let index = 0; index < 200; index += 1) await hold(`request-${index}.0`, '0.000001');
  await expect(check()).rejects.toMatchObject({ code: 'rate_limit_exceeded', limit: 'holds' });
});

test('BILL-14 a store that fails is 503, after the retries of a read', async () => {
  const { deps, store } = await worldOf('1');
  let reads = 0;
  const failing = Object.assign(Object.create(store), {
    readAccount: () => {
      reads += 1;
      return reads < 3 ? Promise.reject(new StoreError('unavailable', 'gone')) : store.readAccount(ACCOUNT);
    },
  });
  const passing = requireFunds({ ...deps, store: failing }, planned);
  for (let step = 0; step < 4; step += 1) await deps.clock.advance(1_000);
  await passing;
  expect(reads).toBe(3);
  const lost = Object.assign(Object.create(store), {
    readAccount: () => Promise.reject(new StoreError('unavailable', 'gone')),
  });
  const rejected = requireFunds({ ...deps, store: lost }, planned).catch((error: unknown) => error);
  for (let step = 0; step < 4; step += 1) await deps.clock.advance(1_000);
  expect(await rejected).toMatchObject({ code: 'service_unavailable' });
});

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 10, 26, 12);

/** Uses the allowance of 1,000 pico-USD of the day. */
const useAllowance = async ({ memory, clock, deps, order }: LedgerScene, uncollectedPicos: bigint): Promise<void> => {
  const { holdId, amountPicos } = await placeHold(deps, order({ requestId: 'free' }));
  const use = { uncollectedPicos, usesAllowance: true, allowancePicos: 1_000n };
  const at = clock.now();
  const ended = { accountId: ID, holdId, requestId: 'free', outcome: 'released', amountPicos: 0n, at, ...use } as const;
  await memory.putRecord(ended);
  await memory.apply(ended, amountPicos, at);
};

const open = (scene: LedgerScene) => placeHold(scene.deps, scene.order({ requestId: 'open' }));

const onProbation = async (scene: LedgerScene): Promise<void> => {
  await useAllowance(scene, 1_001n);
  await open(scene);
};

const capped = (limitPicos: bigint, keyId: string) => (scene: LedgerScene) =>
  scene.memory.setCap(ID, keyId, { limitPicos, kind: 'day' }, scene.clock.now());

const large = { allowancePicos: 1_000n, outputLimit: { field: 'max_tokens', tokens: 8_193, choices: 1 } };
const small = { ...large, outputLimit: { ...large.outputLimit, tokens: 8_192 } };
const cap = { keyId: 'k', kind: 'day', epoch: 2 } as const;

test.for<readonly [string, (scene: LedgerScene) => unknown, Partial<PlannedHold>, object | undefined]>([
  ['a blocked account', ({ memory }) => memory.setStatus(ID, 'blocked'), {}, { code: 'account_blocked' }],
  ['a day of ten allowances', (scene) => useAllowance(scene, 10_000n), small, { limit: 'uncollected' }],
  ['a large request on probation', onProbation, large, { limit: 'probation', param: 'max_tokens' }],
  ['a small request on probation', onProbation, small, undefined],
  ['a large request on probation alone', (scene) => useAllowance(scene, 1_001n), large, undefined],
  ['a limit that shrinks on probation', onProbation, { ...large, smaller: () => 50n }, undefined],
  ['a large request without probation', open, large, undefined],
  ['a full cap', capped(100n, 'k'), { cap }, undefined],
  ['a cap below the hold', capped(99n, 'k'), { cap }, { code: 'key_limit_exceeded' }],
  ['a cap below the hold that shrinks', capped(99n, 'k'), { cap, smaller: (left) => left }, undefined],
  ['a cap of another key', capped(99n, 'other'), { cap }, undefined],
])('GEN-8 %s gets the result of the hold before its images', async ([, prepare, changes, error]) => {
  const scene = await ledgerScene(1_000n);
  await scene.clock.advance(NOON - scene.clock.now());
  await prepare(scene);
  const before = scene.account();
  const result = async (work: Promise<unknown>) =>
    await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  const early = await result(requireFunds(scene.deps, scene.order(changes)));
  expect(scene.account()).toEqual(before);
  const late = await result(scene.clock.until(placeHold(scene.deps, scene.order(changes))));
  expect(early).toEqual(late);
  if (error) expect(early).toMatchObject(error);
  else expect(early).toBeUndefined();
});

test('BILL-21 a counter of a later day returns to the present day when it rejects images', async () => {
  const scene = await ledgerScene(1_000n);
  await scene.clock.advance(NOON + DAY_MS - scene.clock.now());
  await useAllowance(scene, 10_000n);
  const deps = { ...scene.deps, clock: { now: () => NOON, after: scene.clock.after.bind(scene.clock) } };
  await expect(requireFunds(deps, scene.order(small))).rejects.toMatchObject({ limit: 'uncollected' });
  expect(scene.account().uncollected).toMatchObject({ day: '2026-11-26' });
});
