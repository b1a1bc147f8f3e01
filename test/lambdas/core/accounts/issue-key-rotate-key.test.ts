import { expect, test } from 'vitest';
import { isApiKey, keyIdOf, labelOf } from '../../../../lambdas/core/accounts/keys.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { conflict, createMoment, fails, losesReply, throttled } from '../../../support/memory/faults.ts';
import { type AccountMethod, accountWorld, hashOf } from './account-world.ts';

const startedWorld = async () => {
  const world = accountWorld();
  const started = await world.process().start();
  if (started.kind !== 'key') throw new Error(`expected a key, met ${started.kind}`);
  const { accountId, hash } = started;
  await world.keys.markShown(accountId, hash);
  const credited = await world.ledger.readAccount(accountId);
  return { ...world, accountId, old: hash, oldId: keyIdOf(hash), credited };
};

const refusal = async (pending: Promise<unknown>): Promise<GatewayError> => {
  const thrown: unknown = await pending.then(
    () => 'expected a GatewayError',
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw thrown;
};

test('KEY-2 a rotation returns the new key, and only that key is admitted', async () => {
  const world = await startedWorld();
  const { apiKey, id, label } = await world.process().rotate(world.accountId, world.oldId);
  const hash = hashOf(apiKey);
  expect(isApiKey(apiKey)).toBe(true);
  expect([id, label]).toEqual([keyIdOf(hash), labelOf(apiKey)]);
  expect(await world.usableKeys()).toEqual([hash]);
  expect(await world.keys.read(world.old)).toMatchObject({ status: 'revoked' });
  expect(await world.keys.currentKey(world.accountId)).toMatchObject({
    hash,
    isShown: true,
    isRevoked: false,
    issuedAtMs: world.clock.now(),
  });
  expect(await world.ledger.readAccount(world.accountId)).toEqual(world.credited);
});

test('BILL-21 a rotated key has the allowance of the old one', async () => {
  const world = await startedWorld();
  const allowance = { picos: 5n, atMs: world.clock.now() };
  await world.keys.setAllowance(world.old, allowance);
  const { apiKey } = await world.process().rotate(world.accountId, world.oldId);
  expect(await world.keys.read(hashOf(apiKey))).toMatchObject({ allowance });
});

test('KEY-2 a rotation succeeds although the allowance cannot be stored', async () => {
  const world = await startedWorld();
  await world.keys.setAllowance(world.old, { picos: 5n, atMs: world.clock.now() });
  const process = world.process({ setAllowance: [fails], readMany: [undefined] });
  const { apiKey } = await process.rotate(world.accountId, world.oldId);
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

test('KEY-2 the public id of a key contains neither the key nor its hash', () => {
  const hash = hashOf('sk-service-any');
  expect(keyIdOf(hash)).toMatch(/^[0-9a-f]{16}$/);
  expect(hash).not.toContain(keyIdOf(hash));
  expect(keyIdOf(hash)).not.toBe(keyIdOf(hashOf('sk-service-other')));
});

test('KEY-2 one of several concurrent rotations wins, and the others get 409', async () => {
  for (let round = 0; round < 10; round += 1) {
    const world = await startedWorld();
    const settled = await Promise.allSettled(
      [1, 2, 3, 4].map(() => world.process().rotate(world.accountId, world.oldId)),
    );
    const won = settled.flatMap((one) => (one.status === 'fulfilled' ? [hashOf(one.value.apiKey)] : []));
    const lost = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(lost.map(({ code, status, param }) => [code, status, param])).toEqual(
      Array(3).fill(['key_already_rotated', 409, 'key_id']),
    );
    expect(await world.usableKeys()).toEqual(won);
    expect(await world.currentHash(world.accountId)).toBe(won[0]);
  }
});

test('KEY-2 the id of a former key rotates nothing', async () => {
  const world = await startedWorld();
  const { apiKey } = await world.process().rotate(world.accountId, world.oldId);
  for (const keyId of [world.oldId, world.old, '', 'f'.repeat(16)]) {
    expect(await refusal(world.process().rotate(world.accountId, keyId))).toMatchObject({
      code: 'key_already_rotated',
      status: 409,
      param: 'key_id',
    });
  }
  expect((await refusal(world.process().rotate('unknown', world.oldId))).code).toBe('key_already_rotated');
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

test('KEY-2 a blocked account gets no new key, even if the block comes during the rotation', async () => {
  const early = await startedWorld();
  await early.accounts.setBlocked(early.accountId, true, early.old);
  const late = await startedWorld();
  const moment = createMoment();
  const pending = refusal(
    late.process({ replaceKey: [{ kind: 'delayed', until: moment.until }] }).rotate(late.accountId, late.oldId),
  );
  await late.clock.flush();
  await late.accounts.setBlocked(late.accountId, true, late.old);
  moment.come();
  for (const [world, rotation] of [
    [early, refusal(early.process().rotate(early.accountId, early.oldId))],
    [late, pending],
  ] as const) {
    expect(await rotation).toMatchObject({ code: 'account_blocked', status: 403 });
    expect(await world.currentHash(world.accountId)).toBe(world.old);
    expect(await world.usableKeys()).toEqual([]);
  }
});

test('KEY-2 a rotation of a revoked key restores access', async () => {
  const world = await startedWorld();
  await world.keys.revokeKey(world.accountId, world.old);
  const { apiKey } = await world.process().rotate(world.accountId, world.oldId);
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

const calls: readonly AccountMethod[] = ['currentKey', 'replaceKey'];
const troubles = Object.entries({ fails, throttled, conflict, losesReply });

test.each(calls.flatMap((method) => troubles.map(([trouble, fault]) => ({ method, trouble, fault }))))(
  'KEY-2 $method $trouble up to three times: the rotation succeeds with one usable key',
  async ({ method, fault }) => {
    for (const times of [1, 2, 3]) {
      const world = await startedWorld();
      const process = world.process({ [method]: Array(times).fill(fault) });
      const { apiKey } = await process.rotate(world.accountId, world.oldId);
      expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
      expect(await world.currentHash(world.accountId)).toBe(hashOf(apiKey));
    }
  },
);

test('KEY-2 a rotation returns the one key even if a reply is lost and two reads fail after it', async () => {
  const world = await startedWorld();
  const process = world.process({ replaceKey: [losesReply], currentKey: [undefined, fails, throttled] });
  const { apiKey } = await process.rotate(world.accountId, world.oldId);
  expect(process.calls).toEqual([
    'currentKey',
    'replaceKey',
    'replaceKey',
    'currentKey',
    'currentKey',
    'currentKey',
    'readMany',
  ]);
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

test('KEY-2 a rotation whose write failed does not claim the key of another rotation', async () => {
  const world = await startedWorld();
  const slow = world.process({ replaceKey: [fails] });
  const other = world.process();
  const pending = refusal(slow.rotate(world.accountId, world.oldId));
  const { apiKey } = await other.rotate(world.accountId, world.oldId);
  expect((await pending).code).toBe('key_already_rotated');
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

test('KEY-2 a write that lands late does not replace the returned key', async () => {
  const world = await startedWorld();
  const moment = createMoment();
  const slow = world.process({ replaceKey: [{ kind: 'lands-late', until: moment.until }] });
  const { apiKey } = await slow.rotate(world.accountId, world.oldId);
  moment.come();
  await slow.landed();
  expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
});

test.each(calls)('KEY-2 a rotation throws if %s keeps failing, and one key stays usable', async (method) => {
  for (const fault of [fails, losesReply]) {
    const world = await startedWorld();
    const process = world.process({ [method]: fault });
    await expect(process.rotate(world.accountId, world.oldId)).rejects.toMatchObject({ name: 'StoreError' });
    expect(process.calls.filter((called) => called === method)).toHaveLength(4);
    expect(await world.usableKeys()).toHaveLength(1);
    // The mini app reads the account again and continues with the current key.
    const { apiKey } = await world.process().rotate(world.accountId, await world.currentId(world.accountId));
    expect(await world.usableKeys()).toEqual([hashOf(apiKey)]);
  }
});
