import { expect, test } from 'vitest';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { losesReply } from '../../../support/memory/faults.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { ACCOUNT, keyWorld, refusalOf } from './key-world.ts';

const FORBIDDEN = [403, 'key_right_missing', null];
const badField = (field: string) => [400, 'invalid_request_error', field];
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

test('KEY-8 a key without manage can list, create, change and delete nothing', async () => {
  const world = await keyWorld();
  const actor = { keyId: keyIdOf((await world.create()).key.hash) };
  const other = keyIdOf((await world.create()).key.hash);
  const attempts = [
    world.list(actor),
    world.create({ name: 'C' }, actor),
    world.edit(other, { name: 'C' }, actor),
    world.remove(other, actor),
    world.list({ keyId: '0123456789abcdef' }),
  ];
  for (const attempt of attempts) expect(await refusalOf(attempt)).toEqual(FORBIDDEN);
  expect(await world.list()).toHaveLength(3);
});

test('KEY-8 a key cannot change or delete itself', async () => {
  const world = await keyWorld();
  const { keyId } = world.first as { keyId: string };
  expect(await refusalOf(world.edit(keyId, { name: 'B' }))).toEqual(FORBIDDEN);
  expect(await refusalOf(world.remove(keyId))).toEqual(FORBIDDEN);
  await world.edit(keyId, { name: 'Mine', manage: false }, 'owner');
  expect(await refusalOf(world.list())).toEqual(FORBIDDEN);
  expect(await world.list('owner')).toMatchObject([{ name: 'Mine', manage: false }]);
});

test('KEY-8 a removed right stays removed when the first key is replaced', async () => {
  const world = await keyWorld();
  const { keyId } = world.first as { keyId: string };
  await world.edit(keyId, { manage: false }, 'owner');
  const rotated = await world.process().rotate(ACCOUNT, keyId);
  expect(await refusalOf(world.list({ keyId: rotated.id }))).toEqual(FORBIDDEN);
  expect(await refusalOf(world.list(world.first))).toEqual(FORBIDDEN);
  await world.edit(rotated.id, { manage: true }, 'owner');
  expect(await world.list({ keyId: rotated.id })).toHaveLength(1);
});

test.each([
  ['limit_usd', { limitPicos: USD }],
  ['models', { models: ['small'] }],
  ['expires_at', { expiresAtMs: Date.UTC(2030, 0, 1) }],
] as const)('KEY-8 a key with %s cannot have manage, whichever comes first', async (_field, restriction) => {
  const world = await keyWorld();
  expect(await refusalOf(world.create({ name: 'A', manage: true, ...restriction }))).toEqual(badField('rights'));
  const restricted = keyIdOf((await world.create({ name: 'A', ...restriction })).key.hash);
  expect(await refusalOf(world.edit(restricted, { manage: true }))).toEqual(badField('rights'));
  const managing = keyIdOf((await world.create({ name: 'B', manage: true })).key.hash);
  expect(await refusalOf(world.edit(managing, restriction))).toEqual(badField('rights'));
  await world.edit(managing, { manage: false, ...restriction });
});

test('KEY-8 the first key can only get another name and other rights', async () => {
  const world = await keyWorld();
  const { keyId } = world.first as { keyId: string };
  const restrictions = [
    ['limit_usd', { limitPicos: USD }],
    ['limit_period', { limitPeriod: 'day' }],
    ['expires_at', { expiresAtMs: Date.UTC(2030, 0, 1) }],
    ['models', { models: ['small'] }],
    ['requests_per_second', { rate: 1 }],
  ] as const;
  for (const [field, restriction] of restrictions)
    expect(await refusalOf(world.edit(keyId, restriction, 'owner'))).toEqual(badField(field));
  await world.edit(keyId, { name: 'Mine', rate: null, models: null }, 'owner');
  expect(await world.list()).toMatchObject([{ name: 'Mine', version: 1 }]);
});

test('KEY-8 a key can give no rate above its own, and its keys have its rate by default', async () => {
  const world = await keyWorld();
  expect(await refusalOf(world.create({ name: 'A', rate: 10.1 }))).toEqual(badField('requests_per_second'));
  const slow = { keyId: keyIdOf((await world.create({ name: 'Slow', manage: true, rate: 2 })).key.hash) };
  expect(await refusalOf(world.create({ name: 'A', rate: 3 }, slow))).toEqual(badField('requests_per_second'));
  expect((await world.create({ name: 'A' }, slow)).key.limits).toEqual({ rate: 2 });
  expect((await world.create({ name: 'A', rate: null }, slow)).key.limits).toEqual({ rate: 2 });
  const slower = await world.create({ name: 'A', rate: 0.5 }, slow);
  expect(await refusalOf(world.edit(keyIdOf(slower.key.hash), { rate: 5 }, slow))).toEqual(
    badField('requests_per_second'),
  );
  const fast = keyIdOf((await world.create({ name: 'Fast' })).key.hash);
  await world.edit(fast, { rate: null }, slow);
  expect((await world.list()).find(({ keyId }) => keyId === fast)).toMatchObject({ limits: { rate: 2 } });
});

test('KEY-8 an unknown model, an expiry in the past and a period without a cap are 400', async () => {
  const world = await keyWorld();
  const now = world.clock.now();
  expect(await refusalOf(world.create({ name: 'A', models: ['small', 'huge'] }))).toEqual(badField('models[1]'));
  for (const expiresAtMs of [now, now - 1, 0])
    expect(await refusalOf(world.create({ name: 'A', expiresAtMs }))).toEqual(badField('expires_at'));
  expect(await refusalOf(world.create({ name: 'A', limitPeriod: 'day' }))).toEqual(badField('limit_period'));
  expect(await refusalOf(world.create({ name: 'A', limitPicos: null, limitPeriod: 'day' }))).toEqual(
    badField('limit_period'),
  );
  expect(await world.list()).toHaveLength(1);
});

test('KEY-8 an alias allows the model that it names, once', async () => {
  const world = await keyWorld();
  expect((await world.create({ name: 'A', models: ['tiny', 'small', 'large'] })).key.limits.models).toEqual([
    'small',
    'large',
  ]);
});

test('KEY-8 a key is rejected from its expiry on, and with no request before', async () => {
  const world = await keyWorld();
  const { apiKey } = await world.create({ name: 'A', expiresAtMs: world.clock.now() + HOUR });
  await world.clock.advance(HOUR - 1);
  await world.admit(apiKey);
  await world.clock.advance(1);
  expect(await refusalOf(world.admit(apiKey))).toEqual([401, 'expired_api_key', 'Authorization']);
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

test('KEY-8 the list has the last use and what a key has spent and holds', async () => {
  const world = await keyWorld();
  const capped = await world.create({ name: 'Capped', limitPicos: 5n * USD, limitPeriod: 'month' });
  const { apiKey } = await world.create({ name: 'Free' });
  const usedAtMs = world.clock.now();
  const { cap } = await world.admit(capped.apiKey);
  await placeHold(
    { store: world.ledger, outbox: new MemoryOutbox(), clock: world.clock, random: () => 0, shortestLifetimeMs: HOUR },
    {
      accountId: ACCOUNT,
      requestId: '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
      amountPicos: 2n * USD,
      expiresAtMs: usedAtMs + HOUR,
      cap,
    },
  );
  await world.clock.advance(HOUR);
  const [first, one, two] = await world.list();
  expect(first).toMatchObject({ lastUsedAtMs: undefined, spentPicos: undefined, cap: undefined });
  expect(one).toMatchObject({ lastUsedAtMs: usedAtMs, spentPicos: 0n, cap: { heldPicos: 2n * USD, kind: 'month' } });
  expect(two?.lastUsedAtMs).toBeUndefined();
  await world.admit(apiKey);
  const spentByKey = async (_account: string, keyIds: readonly string[]) => new Map([[keyIds[1] ?? '', 7n]]);
  expect(await world.list(world.first, { spentByKey })).toMatchObject([
    { spentPicos: 0n },
    { spentPicos: 0n },
    { spentPicos: 7n, lastUsedAtMs: world.clock.now() },
  ]);
});
