import { expect, test } from 'vitest';
import type { Started } from '../../../../lambdas/core/accounts/chats.ts';
import { isApiKey, labelOf } from '../../../../lambdas/core/accounts/keys.ts';
import { bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { conflict, createMoment, fails, losesReply, throttled } from '../../../support/memory/faults.ts';
import { type AccountMethod, accountWorld, CHAT, hashOf, START_CREDIT } from './account-world.ts';

type FirstKey = Extract<Started, { kind: 'key' }>;

const firstKeyOf = (started: Started): FirstKey => {
  if (started.kind !== 'key') throw new Error(`expected a key, met ${started.kind}`);
  return started;
};

/** A bot chat whose first key was issued and, if `isShown`, marked as shown. */
const startedWorld = async (isShown = true) => {
  const world = accountWorld();
  const first = firstKeyOf(await world.process().start());
  if (isShown) await world.keys.markShown(first.accountId, first.hash);
  return { ...world, first };
};

test('KEY-1 the first start creates an account, a key and the start credit', async () => {
  const world = accountWorld();
  const { apiKey, accountId, hash } = firstKeyOf(await world.process().start());
  expect(isApiKey(apiKey)).toBe(true);
  expect(hash).toBe(hashOf(apiKey));
  expect(await world.keys.read(hash)).toMatchObject({ accountId, status: 'active', blocked: false });
  expect(await world.accounts.chat(CHAT)).toMatchObject({ accountId, isClosed: false });
  expect(await world.keys.currentKey(accountId)).toMatchObject({
    hash,
    label: labelOf(apiKey),
    isShown: false,
    issuedAtMs: world.clock.now(),
  });
  expect(world.ledger.creditsOf(accountId)).toEqual(new Map([['start', START_CREDIT]]));
  expect(await world.audit(accountId)).toMatchObject({ findings: [] });
});

test('KEY-1 a second start shows only the ends of the key and changes nothing', async () => {
  const { process, first, ledger, usableKeys } = await startedWorld();
  const again = await process().start();
  expect(again).toEqual({ kind: 'had-key', accountId: first.accountId, label: labelOf(first.apiKey) });
  expect(JSON.stringify(again)).not.toContain(first.apiKey);
  expect(await usableKeys()).toEqual([first.hash]);
  expect(ledger.creditsOf(first.accountId).size).toBe(1);
});

test('KEY-1 a start replaces a key that its owner may never have seen', async () => {
  const { process, first, usableKeys, audit, ledger, currentHash } = await startedWorld(false);
  const second = firstKeyOf(await process().start());
  expect(second.accountId).toBe(first.accountId);
  expect(second.apiKey).not.toBe(first.apiKey);
  expect([first.replaced, second.replaced]).toEqual([undefined, labelOf(first.apiKey)]);
  expect(await usableKeys()).toEqual([second.hash]);
  expect(await currentHash(first.accountId)).toBe(second.hash);
  expect(ledger.creditsOf(first.accountId)).toEqual(new Map([['start', START_CREDIT]]));
  expect(await audit(first.accountId)).toMatchObject({ findings: [] });
});

test('KEY-1 a start does not replace a used key whose display was not recorded', async () => {
  const { process, first, keys, clock, usableKeys } = await startedWorld(false);
  await keys.take(first.hash, bucketOf(10, 15), () => clock.now() * 1_000);
  const again = process();
  expect(await again.start()).toEqual({ kind: 'had-key', accountId: first.accountId, label: labelOf(first.apiKey) });
  expect(again.calls).toEqual(['chat', 'currentKey', 'read', 'markShown']);
  expect(await usableKeys()).toEqual([first.hash]);
  const third = process();
  expect((await third.start()).kind).toBe('had-key');
  expect(third.calls).toEqual(['chat', 'currentKey']);
});

test('KEY-1 a start after a revocation creates no key', async () => {
  for (const isShown of [true, false]) {
    const { process, first, keys, usableKeys } = await startedWorld(isShown);
    await keys.revokeKey(first.accountId, first.hash);
    expect(await process().start()).toEqual({ kind: 'revoked', accountId: first.accountId });
    expect(await usableKeys()).toEqual([]);
  }
});

test('KEY-1 a blocked account gets no new key', async () => {
  const { process, first, accounts, usableKeys, currentHash } = await startedWorld(false);
  await accounts.setBlocked(first.accountId, true, first.hash);
  expect(await process().start()).toEqual({ kind: 'blocked', accountId: first.accountId });
  expect(await usableKeys()).toEqual([]);
  expect(await currentHash(first.accountId)).toBe(first.hash);
});

const calls: Record<'first' | 'again', readonly AccountMethod[]> = {
  first: ['chat', 'open', 'currentKey'],
  again: ['chat', 'currentKey', 'read', 'replaceKey', 'currentKey'],
};

test('KEY-1 a start makes exactly the listed store calls', async () => {
  const world = accountWorld();
  const [first, again] = [world.process(), world.process()];
  await first.start();
  await again.start();
  expect([first.calls, again.calls]).toEqual([calls.first, calls.again]);
});

const troubles = Object.entries({ fails, throttled, conflict, losesReply });

test.each(
  Object.entries(calls).flatMap(([which, methods]) =>
    methods.flatMap((method, at) => troubles.map(([trouble, fault]) => ({ which, method, at, trouble, fault }))),
  ),
)('KEY-1 $which start, call $at ($method) $trouble once: one account, credit and usable key', async (one) => {
  const world = accountWorld();
  if (one.which === 'again') await world.process().start();
  const turn = calls[one.which === 'again' ? 'again' : 'first'].slice(0, one.at).filter((it) => it === one.method);
  const process = world.process((method, at) => (method === one.method && at === turn.length ? one.fault : undefined));
  const { accountId, hash } = firstKeyOf(await process.start());
  expect(await world.usableKeys()).toEqual([hash]);
  expect(await world.currentHash(accountId)).toBe(hash);
  expect(world.ledger.accounts().map(({ creditedPicos }) => creditedPicos)).toEqual([START_CREDIT]);
  expect(await world.audit(accountId)).toMatchObject({ findings: [] });
});

test.each(calls.first)('KEY-1 a start fails if every %s fails, and the next start succeeds', async (method) => {
  for (const fault of [fails, losesReply]) {
    const world = accountWorld();
    await expect(world.process({ [method]: fault }).start()).rejects.toMatchObject({ name: 'StoreError' });
    const { accountId, hash } = firstKeyOf(await world.process().start());
    expect(await world.usableKeys()).toEqual([hash]);
    expect(world.ledger.accounts().map(({ id, creditedPicos }) => [id, creditedPicos])).toEqual([
      [accountId, START_CREDIT],
    ]);
  }
});

test('KEY-1 a failed replacement leaves one usable key, which the next start replaces', async () => {
  for (const fault of [fails, losesReply]) {
    const world = await startedWorld(false);
    await expect(world.process({ replaceKey: fault }).start()).rejects.toMatchObject({ name: 'StoreError' });
    expect(await world.usableKeys()).toHaveLength(1);
    const { hash } = firstKeyOf(await world.process().start());
    expect(await world.usableKeys()).toEqual([hash]);
  }
});

test('KEY-1 a write that lands late changes nothing', async () => {
  const world = accountWorld();
  const moment = createMoment();
  const slow = world.process({ open: [{ kind: 'lands-late', until: moment.until }] });
  const { accountId, hash } = firstKeyOf(await slow.start());
  moment.come();
  await slow.landed();
  expect(await world.usableKeys()).toEqual([hash]);
  expect(world.ledger.accounts().map(({ id }) => id)).toEqual([accountId]);
  expect(await world.audit(accountId)).toMatchObject({ findings: [] });
});

test('KEY-1 a start whose key was replaced meanwhile does not show the revoked key', async () => {
  const world = accountWorld();
  const moment = createMoment();
  const slow = world.process({ currentKey: [{ kind: 'delayed', until: moment.until }] });
  const pending = slow.start();
  await world.clock.flush();
  const quick = firstKeyOf(await world.process().start());
  await world.keys.markShown(quick.accountId, quick.hash);
  moment.come();
  expect(await pending).toEqual({ kind: 'had-key', accountId: quick.accountId, label: labelOf(quick.apiKey) });
  expect(await world.usableKeys()).toEqual([quick.hash]);
});

test('KEY-1 a start does not show a key that is revoked before the start returns', async () => {
  const world = await startedWorld(false);
  const moment = createMoment();
  const slow = world.process({ replaceKey: [{ kind: 'delayed', until: moment.until }] });
  const pending = slow.start();
  await world.clock.flush();
  const { accountId, hash } = firstKeyOf(await world.process().start());
  await world.keys.revokeKey(accountId, hash);
  moment.come();
  expect(await pending).toEqual({ kind: 'revoked', accountId });
  expect(await world.usableKeys()).toEqual([]);
});
