import { expect, test } from 'vitest';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { ACCOUNT, keyWorld, refusalOf } from './key-world.ts';

const FORBIDDEN = [403, 'key_right_missing', null];
const badField = (field: string) => [400, 'invalid_request_error', field];
const USD = PICOS_PER_USD;

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

test('KEY-8 a cap without a period is 400, and a key without a cap needs none', async () => {
  const world = await keyWorld();
  const { key } = await world.create({ name: 'A', limitPicos: 5n * USD, limitPeriod: 'day' });
  const keyId = keyIdOf(key.hash);
  for (const change of [{ limitPeriod: null }, { limitPicos: 9n * USD, limitPeriod: null }]) {
    expect(await refusalOf(world.edit(keyId, change))).toEqual(badField('limit_period'));
    expect((await world.list())[1]?.cap).toMatchObject({ kind: 'day', limitPicos: 5n * USD });
  }
  await world.edit(keyId, { limitPicos: 9n * USD });
  expect((await world.list())[1]?.cap).toMatchObject({ kind: 'day', limitPicos: 9n * USD });
  await world.edit(keyId, { limitPicos: null, limitPeriod: null });
  await world.edit(keyId, { limitPeriod: null, name: 'B' });
  expect((await world.list())[1]).toMatchObject({ name: 'B', cap: undefined });
  expect((await world.create({ name: 'C', limitPicos: USD, limitPeriod: null })).account?.caps.size).toBe(1);
});
