import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  FIRST_KEY_PROPERTIES,
  type KeyLimits,
  type KeyWrite,
  type NamedKey,
} from '../../lambdas/core/accounts/key-ring.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import type { StoreError } from '../../lambdas/core/errors/store-error.ts';
import { changeCap } from '../../lambdas/core/ledger/caps.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import {
  type AccountSubject,
  accountNamed,
  accountSubjects,
  audit,
  keyNamed,
  OPENED_AT_MS,
} from './account-subjects.ts';

const NOW_MS = OPENED_AT_MS + 1_000;
const bucket = bucketOf(10, 15);
const everything: KeyLimits = {
  expiresAtMs: NOW_MS + 5,
  models: ['model-b', 'model-a'],
  rate: 2.5,
  cap: { kind: 'month', epoch: 3 },
};

const namedKey = (hash: string, changes: Partial<NamedKey> = {}): NamedKey => ({
  ...{ hash, label: keyNamed(hash).label, name: 'Web site ✓', manage: false, version: 1 },
  ...{ createdAtMs: NOW_MS, limits: {} },
  ...changes,
});

describe.each(accountSubjects)('the key rings $name', ({ open }) => {
  let subject: AccountSubject;
  beforeAll(async () => {
    subject = await open();
  });

  const openOne = async () => {
    const accountId = `ring-${randomUUID()}`;
    await subject.accounts.open(accountNamed(accountId, { creditPicos: 9n }));
    return { accountId, first: `${accountId}-key`, hash: `${accountId}-named` };
  };

  const change = async (accountId: string, named: readonly NamedKey[], key?: KeyWrite) => {
    const before = await subject.keys.ring(accountId);
    return subject.keys.changeRing({
      accountId,
      before,
      after: { firstProperties: before.firstProperties, named },
      key,
    });
  };

  const add = (accountId: string, hash: string, limits: KeyLimits = {}) =>
    change(accountId, [namedKey(hash, { limits })], { kind: 'add', key: keyNamed(hash), limits, factor: undefined });

  const take = (hash: string, nowMs = NOW_MS) => subject.keys.take(hash, bucket, () => nowMs * 1_000);
  const kindOf = async (hash: string) => (await take(hash)).kind;

  test('KEY-8 an account without a ring has only its first key, if any', async () => {
    const { accountId, first } = await openOne();
    const empty = { version: 0, firstProperties: FIRST_KEY_PROPERTIES, named: [] };
    expect(await subject.keys.ring(accountId)).toMatchObject({ ...empty, first: { hash: first, isRevoked: false } });
    expect(await subject.keys.ring('unknown')).toEqual({ ...empty, first: undefined });
  });

  test.each([
    ['every restriction', everything],
    ['no restriction', {}],
    ['one restriction', { models: ['model-a'] }],
  ] as const)('KEY-8 an added key with %s is stored as it was given, and works', async (_name, limits) => {
    const { accountId, hash, first } = await openOne();
    expect(await add(accountId, hash, limits)).toBe('written');
    const ring = await subject.keys.ring(accountId);
    expect(ring).toMatchObject({ version: 1, first: { hash: first } });
    expect(ring.named).toEqual([namedKey(hash, { limits })]);
    expect(await take(hash)).toMatchObject({ kind: 'taken', key: { accountId, status: 'active', ...limits } });
    expect(await kindOf(first)).toBe('taken');
  });

  test('KEY-8 a change of an old ring, or with another first key, writes nothing', async () => {
    const { accountId, hash, first } = await openOne();
    const before = await subject.keys.ring(accountId);
    await add(accountId, hash);
    const late = (ring: typeof before, added = `${hash}-2`) =>
      subject.keys.changeRing({
        ...{ accountId, before: ring, after: { firstProperties: ring.firstProperties, named: [namedKey(added)] } },
        key: { kind: 'add', key: keyNamed(added), limits: {}, factor: undefined },
      });
    expect(await late(before)).toBe('changed');
    const present = await subject.keys.ring(accountId);
    await subject.keys.replaceKey({ accountId, oldHash: first, key: keyNamed(`${first}-2`), atMs: NOW_MS });
    expect(await late(present)).toBe('changed');
    const replaced = await subject.keys.ring(accountId);
    await subject.keys.revokeKey(accountId, `${first}-2`);
    expect(await late(replaced)).toBe('changed');
    expect(await late(await subject.keys.ring(accountId), hash)).toBe('changed');
    expect(await kindOf(`${hash}-2`)).toBe('unknown');
    expect((await subject.keys.ring(accountId)).named).toEqual([namedKey(hash)]);
  });

  test('KEY-8 one of several concurrent changes wins, and only its key exists', async () => {
    const { accountId, hash } = await openOne();
    const rivals = [1, 2, 3, 4].map((rival) => `${hash}-${rival}`);
    const before = await subject.keys.ring(accountId);
    const replies = await Promise.all(
      rivals.map((rival) =>
        subject.keys
          .changeRing({
            ...{ accountId, before, after: { firstProperties: before.firstProperties, named: [namedKey(rival)] } },
            key: { kind: 'add', key: keyNamed(rival), limits: {}, factor: undefined },
          })
          // The table can reject one of two transactions that meet.
          .catch((error: StoreError) => (error.kind === 'conflict' ? 'changed' : error.kind)),
      ),
    );
    expect(replies.toSorted()).toEqual(['changed', 'changed', 'changed', 'written']);
    for (const [at, rival] of rivals.entries())
      expect(await kindOf(rival)).toBe(replies[at] === 'written' ? 'taken' : 'unknown');
  });

  test('KEY-8 changed restrictions replace the earlier ones with the next request', async () => {
    const { accountId, hash } = await openOne();
    await add(accountId, hash, everything);
    for (const limits of [{ rate: 1 }, {}, { expiresAtMs: 7 }, {}] as const) {
      await change(accountId, [namedKey(hash, { limits })], { kind: 'limit', hash, limits });
      const key = await subject.keys.read(hash);
      for (const name of ['expiresAtMs', 'models', 'rate', 'cap'] as const)
        expect(key?.[name]).toEqual(
          'expiresAtMs' in limits || 'rate' in limits ? Reflect.get(limits, name) : undefined,
        );
      expect(key?.status).toBe('active');
      expect(await take(hash, NOW_MS + 60_000)).toMatchObject({ kind: 'taken' });
    }
  });

  test('KEY-8 a revoked key is rejected, also a restricted one, and gets no new restrictions', async () => {
    for (const limits of [{}, everything]) {
      const { accountId, hash } = await openOne();
      await add(accountId, hash, limits);
      expect(await change(accountId, [], { kind: 'revoke', hash })).toBe('written');
      expect(await take(hash)).toMatchObject({ kind: 'refused', key: { status: 'revoked' } });
      expect(await change(accountId, [], { kind: 'limit', hash, limits: {} })).toBe('changed');
      expect(await subject.keys.read(hash)).toMatchObject({ status: 'revoked' });
      expect((await subject.keys.ring(accountId)).named).toEqual([]);
    }
  });

  test('KEY-8 the first key can be revoked with the ring, and stays the current one', async () => {
    const { accountId, first, hash } = await openOne();
    await add(accountId, hash);
    const { named } = await subject.keys.ring(accountId);
    expect(await change(accountId, named, { kind: 'revoke', hash: first })).toBe('written');
    expect(await take(first)).toMatchObject({ kind: 'refused', key: { status: 'revoked' } });
    expect(await subject.keys.currentKey(accountId)).toMatchObject({ hash: first, isRevoked: true });
    expect(await change(accountId, [], { kind: 'revoke', hash })).toBe('written');
  });

  test('KEY-2, KEY-8 a replaced first key leaves the other keys and its properties', async () => {
    const { accountId, first, hash } = await openOne();
    await add(accountId, hash, everything);
    const before = await subject.keys.ring(accountId);
    const firstProperties = { name: 'Mine', manage: false, version: 2 };
    await subject.keys.changeRing({ accountId, before, after: { firstProperties, named: before.named } });
    await subject.keys.replaceKey({ accountId, oldHash: first, key: keyNamed(`${first}-2`), atMs: NOW_MS });
    expect(await subject.keys.ring(accountId)).toMatchObject({
      ...{ version: 2, firstProperties, named: before.named },
      first: { hash: `${first}-2` },
    });
    expect(await kindOf(hash)).toBe('taken');
  });

  test('LIM-2 a key with an own rate has its burst and its interval, and follows a change', async () => {
    const { accountId, hash } = await openOne();
    await add(accountId, hash, { rate: 2 });
    const taken = async (times: number, nowMs: number) => {
      const kinds = [];
      for (let time = 0; time < times; time += 1) kinds.push((await take(hash, nowMs)).kind);
      return kinds.filter((kind) => kind === 'taken').length;
    };
    expect(await taken(6, NOW_MS)).toBe(3);
    expect(await taken(3, NOW_MS + 500)).toBe(1);
    expect(await take(hash, NOW_MS + 500)).toMatchObject({ kind: 'refused', key: { rate: 2, status: 'active' } });
    await change(accountId, [namedKey(hash)], { kind: 'limit', hash, limits: {} });
    expect(await taken(20, NOW_MS + 60_000)).toBe(15);
    await change(accountId, [namedKey(hash)], { kind: 'limit', hash, limits: { rate: 0.5 } });
    expect(await taken(3, NOW_MS + 120_000)).toBe(1);
  });

  test('KEY-8 several keys are read in one call, without the missing ones', async () => {
    const { accountId, first, hash } = await openOne();
    await add(accountId, hash, { rate: 2 });
    await take(hash);
    const found = await subject.keys.readMany([first, hash, 'missing']);
    expect([...found.keys()].toSorted()).toEqual([first, hash].toSorted());
    expect(found.get(hash)).toMatchObject({ accountId, rate: 2, tatMicros: NOW_MS * 1_000 + 500_000 });
    expect((await subject.keys.readMany([])).size).toBe(0);
  });

  test('KEY-8, OPS-5 a blocked account gets no key, and a block names every key', async () => {
    const { accountId, first, hash } = await openOne();
    await add(accountId, hash, { rate: 2 });
    expect(await subject.accounts.setBlocked(accountId, true, first)).toBe('changed');
    const { version } = await subject.keys.ring(accountId);
    expect(await subject.accounts.setBlocked(accountId, true, first, { version, hashes: [hash] })).toBe('set');
    for (const each of [first, hash]) expect(await take(each)).toMatchObject({ key: { blocked: true } });
    const key: KeyWrite = { kind: 'add', key: keyNamed(`${hash}-2`), limits: {}, factor: undefined };
    expect(await change(accountId, [], key)).toBe('blocked');
    expect(await subject.accounts.setBlocked(accountId, false, first, { version, hashes: [hash] })).toBe('set');
    expect(await take(hash)).toMatchObject({ kind: 'taken', key: { blocked: false } });
  });

  test('KEY-8, OPS-5 a blocked account gets no key with a cap', async () => {
    const { accountId, first, hash } = await openOne();
    const unset = { version: 0, hashes: [] };
    expect(await subject.accounts.setBlocked(accountId, true, first, unset)).toBe('set');
    const account = await subject.ledger.readAccount(accountId);
    if (!account) throw new Error('no account');
    const after = changeCap(account, 'id-of-key', { limitPicos: 5n, kind: 'day' }, NOW_MS);
    const before = await subject.keys.ring(accountId);
    const reply = await subject.keys.changeRing({
      ...{ accountId, before, after: { firstProperties: before.firstProperties, named: [namedKey(hash)] } },
      key: { kind: 'add', key: keyNamed(hash), limits: everything, factor: undefined },
      account: { before: account, after, nowMs: NOW_MS },
    });
    expect([reply, await kindOf(hash)]).toEqual(['blocked', 'unknown']);
  });

  test('BILL-20 an added key has the estimate factor that it was given', async () => {
    const { accountId, hash } = await openOne();
    const factor = { factor: 2.5, atMs: NOW_MS };
    await change(accountId, [namedKey(hash)], { kind: 'add', key: keyNamed(hash), limits: {}, factor });
    expect(await take(hash)).toMatchObject({ key: { factor } });
  });

  test('KEY-9 a cap and its key are written together, or neither', async () => {
    const { accountId, hash } = await openOne();
    const account = await subject.ledger.readAccount(accountId);
    if (!account) throw new Error('no account');
    const after = changeCap(account, 'id-of-key', { limitPicos: 5n, kind: 'day' }, NOW_MS);
    const before = await subject.keys.ring(accountId);
    const write = (added: string, ring = before) =>
      subject.keys.changeRing({
        ...{ accountId, before: ring, after: { firstProperties: ring.firstProperties, named: [namedKey(added)] } },
        key: { kind: 'add', key: keyNamed(added), limits: everything, factor: undefined },
        account: { before: account, after, nowMs: NOW_MS },
      });
    expect(await write(hash)).toBe('written');
    expect(await subject.ledger.readAccount(accountId)).toEqual(after);
    expect(await write(`${hash}-2`, await subject.keys.ring(accountId))).toBe('changed');
    expect(await kindOf(`${hash}-2`)).toBe('unknown');
    expect((await subject.keys.ring(accountId)).named).toHaveLength(1);
    expect(await audit(subject, accountId)).toMatchObject({ findings: [] });
  });

  test('KEY-8 a deleted key loses its cap at any version of the account', async () => {
    const { accountId, hash } = await openOne();
    const hashes = [hash, `${hash}-2`];
    for (const each of hashes) {
      const account = await subject.ledger.readAccount(accountId);
      if (!account) throw new Error('no account');
      const after = changeCap(account, keyIdOf(each), { limitPicos: 5n, kind: 'total' }, NOW_MS);
      const before = await subject.keys.ring(accountId);
      await subject.keys.changeRing({
        ...{ accountId, before, after: { firstProperties: before.firstProperties, named: [] } },
        key: { kind: 'add', key: keyNamed(each), limits: everything, factor: undefined },
        account: { before: account, after, nowMs: NOW_MS },
      });
    }
    const read = async () => [...((await subject.ledger.readAccount(accountId))?.caps.keys() ?? [])];
    for (const [at, each] of hashes.entries()) {
      const version = (await subject.ledger.readAccount(accountId))?.version ?? 0;
      expect(await change(accountId, [], { kind: 'revoke', hash: each, hasCap: true })).toBe('written');
      expect(await read()).toEqual(hashes.slice(at + 1).map(keyIdOf));
      expect((await subject.ledger.readAccount(accountId))?.version).toBe(version + 1);
    }
    const account = await subject.ledger.readAccount(accountId);
    if (!account) throw new Error('no account');
    const after = changeCap(account, 'id-of-key', { limitPicos: 5n, kind: 'day' }, NOW_MS);
    const before = await subject.keys.ring(accountId);
    const next = { firstProperties: before.firstProperties, named: [] };
    const cap = { before: account, after, nowMs: NOW_MS };
    expect(await subject.keys.changeRing({ accountId, before, after: next, account: cap })).toBe('written');
    expect(await read()).toEqual(['id-of-key']);
    expect(await audit(subject, accountId)).toMatchObject({ findings: [] });
  });

  test('KEY-8 a ring with 49 keys and long lists of models is stored', async () => {
    const { accountId, hash } = await openOne();
    const models = Array.from({ length: 50 }, (_, at) => `provider/model-with-a-long-name-${at}`);
    const named = Array.from({ length: 49 }, (_, at) =>
      namedKey(`${hash}-${at}`, { name: '✓'.repeat(64), limits: { ...everything, models } }),
    );
    expect(await change(accountId, named)).toBe('written');
    expect((await subject.keys.ring(accountId)).named).toEqual(named);
  });
});
