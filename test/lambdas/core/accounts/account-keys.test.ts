import { expect, test } from 'vitest';
import { deleteAccountKey } from '../../../../lambdas/core/accounts/account-keys.ts';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { losesReply } from '../../../support/memory/faults.ts';
import { ACCOUNT, keyWorld, refusalOf } from './key-world.ts';

const FORBIDDEN = [403, 'key_right_missing', null];
const USD = PICOS_PER_USD;
const HOUR = 3_600_000;

test('KEY-8 a created key works, has its name, and has no rights unless they are wanted', async () => {
  const world = await keyWorld();
  const { apiKey, key } = await world.create({ name: 'Web site' });
  expect(await world.admit(apiKey)).toMatchObject({ accountId: ACCOUNT, key: { keyId: keyIdOf(key.hash) } });
  expect(await world.list()).toMatchObject([
    { name: 'First key', isFirst: true, manage: true },
    { name: 'Web site', isFirst: false, manage: false, limits: {} },
  ]);
  const managing = await world.create({ name: 'B', manage: true });
  expect(await world.list({ keyId: keyIdOf(managing.key.hash) })).toHaveLength(3);
});

test('KEY-8 a key is rejected from its expiry on, and with no request before', async () => {
  const world = await keyWorld();
  const { apiKey } = await world.create({ name: 'A', expiresAtMs: world.clock.now() + HOUR });
  await world.clock.advance(HOUR - 1);
  await world.admit(apiKey);
  await world.clock.advance(1);
  expect(await refusalOf(world.admit(apiKey))).toEqual([401, 'expired_api_key', 'Authorization']);
});

test('LIM-3 the 429 of a slow key has the seconds until its bucket allows a request again', async () => {
  const world = await keyWorld();
  const { apiKey } = await world.create({ name: 'A', rate: 0.1 });
  await world.admit(apiKey);
  await world.clock.advance(2_500);
  await expect(world.admit(apiKey)).rejects.toMatchObject({ retryAfterSeconds: 8 });
  await world.clock.advance(7_499);
  await expect(world.admit(apiKey)).rejects.toMatchObject({ retryAfterSeconds: 1 });
  await world.clock.advance(1);
  await world.admit(apiKey);
});

test('KEY-8 a key has its own rate, a burst of 1.5 times the rate, and a message with it', async () => {
  const world = await keyWorld();
  const { apiKey, key } = await world.create({ name: 'A', rate: 2 });
  expect((await world.admit(apiKey)).rate).toMatchObject({ limit: 3, remaining: 2 });
  await world.admit(apiKey);
  await world.admit(apiKey);
  await expect(world.admit(apiKey)).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    message: expect.stringContaining('2 per second'),
  });
  await world.edit(keyIdOf(key.hash), { rate: null });
  await world.clock.advance(2_000);
  expect((await world.admit(apiKey)).rate.limit).toBe(15);
});

test('KEY-8 a deleted key is rejected by the next request and is not in the list', async () => {
  const world = await keyWorld();
  const { apiKey, key } = await world.create({ name: 'A', expiresAtMs: world.clock.now() + HOUR });
  await world.admit(apiKey);
  await world.remove(keyIdOf(key.hash));
  expect(await refusalOf(world.admit(apiKey))).toEqual([401, 'revoked_api_key', 'Authorization']);
  expect(await world.list()).toHaveLength(1);
  expect(await refusalOf(world.remove(keyIdOf(key.hash)))).toEqual([404, 'not_found', null]);
  expect(await refusalOf(world.edit(keyIdOf(key.hash), { name: 'B' }))).toEqual([404, 'not_found', null]);
  await world.admit(world.firstKey);
});

test('KEY-8 another key can delete the first key, which then has no rights', async () => {
  const world = await keyWorld();
  const other = { keyId: keyIdOf((await world.create({ name: 'B', manage: true })).key.hash) };
  const { keyId } = world.first as { keyId: string };
  await world.remove(keyId, other);
  expect(await refusalOf(world.admit(world.firstKey))).toEqual([401, 'revoked_api_key', 'Authorization']);
  expect(await refusalOf(world.list(world.first))).toEqual(FORBIDDEN);
  expect(await world.list(other)).toHaveLength(1);
  expect(await world.keys.currentKey(ACCOUNT)).toMatchObject({ hash: world.firstHash, isRevoked: true });
});

test('KEY-8 an account has at most 50 keys', async () => {
  const world = await keyWorld();
  for (let made = 1; made < 50; made += 1) await world.create({ name: `Key ${made}` });
  expect(await refusalOf(world.create())).toEqual([400, 'invalid_request_error', null]);
  const [, named] = await world.list();
  await world.remove(named?.keyId ?? '');
  await world.create();
  expect(await world.list()).toHaveLength(50);
});

test('KEY-8 a change with a version that another change has replaced is 409', async () => {
  const world = await keyWorld();
  const { key } = await world.create();
  const target = { keyId: keyIdOf(key.hash), version: key.version };
  await world.edit(target, { name: 'B' });
  expect(await refusalOf(world.edit(target, { name: 'C' }))).toEqual([409, 'key_changed', 'if-match']);
  expect(await refusalOf(world.remove(target))).toEqual([409, 'key_changed', 'if-match']);
  await world.create();
  await world.remove({ ...target, version: 2 });
});

test('KEY-8 concurrent changes of different keys all take effect', async () => {
  const world = await keyWorld();
  const made = [await world.create(), await world.create(), await world.create()];
  await Promise.all(made.map(({ key }, index) => world.edit(keyIdOf(key.hash), { name: `Key ${index}` })));
  expect((await world.list()).map(({ name }) => name)).toEqual(['First key', 'Key 0', 'Key 1', 'Key 2']);
});

test('KEY-8 writes that are repeated after a lost reply take effect once', async () => {
  const world = await keyWorld({ faults: { changeRing: [losesReply, undefined, losesReply, undefined, losesReply] } });
  const { apiKey, key } = await world.create({ name: 'A', limitPicos: USD });
  await world.admit(apiKey);
  const target = { keyId: keyIdOf(key.hash), version: key.version };
  await world.edit(target, { limitPicos: 3n * USD });
  expect((await world.ledger.readAccount(ACCOUNT))?.caps.get(target.keyId)).toMatchObject({ leftPicos: 3n * USD });
  await world.remove(target.keyId);
  expect(await world.list()).toHaveLength(1);
});

test('KEY-8 a blocked account gets no key', async () => {
  const world = await keyWorld();
  await world.process().block(ACCOUNT, true);
  expect(await refusalOf(world.create())).toEqual([403, 'account_blocked', null]);
});

test('OPS-5 a block reaches every key of the account, and unblocking too', async () => {
  const world = await keyWorld();
  const { apiKey } = await world.create({ name: 'A', rate: 2 });
  await world.process().block(ACCOUNT, true);
  for (const each of [apiKey, world.firstKey])
    expect(await refusalOf(world.admit(each))).toEqual([403, 'account_blocked', null]);
  await world.process().block(ACCOUNT, false);
  await world.admit(apiKey);
});

test('BILL-20 a new key has the estimate factor of the account, and an overage reaches every key', async () => {
  const world = await keyWorld();
  await (await world.admit(world.firstKey)).estimate.raise(2);
  const { apiKey } = await world.create();
  expect((await world.admit(apiKey)).estimate.value).toBe(2);
  await (await world.admit(apiKey)).estimate.raise(3);
  expect((await world.admit(world.firstKey)).estimate.value).toBe(3);
});

test('BILL-21 a new key has the allowance of the account', async () => {
  const world = await keyWorld();
  const allowance = { picos: 5n * USD, atMs: world.clock.now() };
  const first = await world.keys.currentKey(ACCOUNT);
  await world.keys.setAllowance(first!.hash, allowance);
  const { key } = await world.create();
  expect(await world.keys.read(key.hash)).toMatchObject({ allowance });
});

test('KEY-8 a key with a cap is deleted although each read of the account is out of date', async () => {
  const world = await keyWorld();
  const { apiKey, key } = await world.create({ name: 'A', limitPicos: USD });
  const keyId = keyIdOf(key.hash);
  const { ledgerStore } = world.deps;
  const readAccount = async (accountId: string) => {
    const account = await ledgerStore.readAccount(accountId);
    world.ledger.touch(accountId);
    return account;
  };
  const deps = { ...world.deps, ledgerStore: { readAccount } };
  await world.clock.until(deleteAccountKey(deps, { accountId: ACCOUNT, actor: world.first }, { keyId }));
  expect(await refusalOf(world.admit(apiKey))).toEqual([401, 'revoked_api_key', 'Authorization']);
  expect((await ledgerStore.readAccount(ACCOUNT))?.caps.size).toBe(0);
});

test('KEY-8 a slow key gives its rate to a key without a rate, also if the rate is undefined', async () => {
  const world = await keyWorld();
  const slow = { keyId: keyIdOf((await world.create({ name: 'A', manage: true, rate: 1 })).key.hash) };
  const { key } = await world.create({ name: 'B', rate: undefined }, slow);
  expect(key.limits).toEqual({ rate: 1 });
});

test.each([1, undefined])('KEY-8 of two limits for version %s, no lost one is reported as written', async (version) => {
  const world = await keyWorld();
  const keyId = keyIdOf((await world.create({ name: 'A', limitPicos: 5n * USD })).key.hash);
  const edit = (limitPicos: bigint) =>
    world.edit({ keyId, version }, { limitPicos }).then(
      () => limitPicos,
      (error: { readonly code: string }) => error.code,
    );
  const results = await Promise.all([edit(6n * USD), edit(7n * USD)]);
  expect(results.includes('key_changed')).toBe(version !== undefined);
  const shown = (await world.list())[1];
  expect(results).toContain(shown?.cap?.limitPicos);
  expect(shown?.version).toBe(version === undefined ? 3 : 2);
});
