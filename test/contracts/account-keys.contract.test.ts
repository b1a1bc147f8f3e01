import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { NewAccount } from '../../lambdas/core/accounts/account-store.ts';
import { blockAccount } from '../../lambdas/core/accounts/block-account.ts';
import { startChat } from '../../lambdas/core/accounts/chats.ts';
import { rotateKey } from '../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { conflict, createMoment, losesReply, withAccountAndKeyFaults } from '../support/memory/faults.ts';
import { rowsOfTier } from '../tiers.ts';
import {
  type AccountSubject,
  accountNamed,
  accountSubjects,
  audit,
  keyNamed,
  OPENED_AT_MS,
} from './account-subjects.ts';

const bucket = bucketOf(10, 15);
const WAIT = { interval: 1, timeout: 60_000 };
const LATER_MS = OPENED_AT_MS + 60_000;
/** Rounds of a race: each of its two orders once, and many times in the long tier. */
const rounds = rowsOfTier(
  Array.from({ length: 20 }, (_, round) => round),
  (round) => String(round % 2),
);

describe.each(accountSubjects)('the keys of the account store $name', ({ open }) => {
  let subject: AccountSubject;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
  });

  const openOne = async (changes: Partial<NewAccount> = {}) => {
    count += 1;
    const account = accountNamed(`account-${count}`, changes);
    expect(await subject.accounts.open(account)).toBe('opened');
    return { accountId: account.accountId, old: account.key.hash, next: `account-${count}-next` };
  };
  const openWithoutKey = async (): Promise<string> => {
    count += 1;
    await subject.ledger.createAccount(`account-${count}`, 0);
    return `account-${count}`;
  };
  const replace = (accountId: string, oldHash: string, hash: string) =>
    subject.keys.replaceKey({ accountId, oldHash, key: keyNamed(hash), atMs: LATER_MS });
  const current = (accountId: string) => subject.keys.currentKey(accountId);
  /** Result of a request with this key. */
  const admitted = async (hash: string): Promise<string> => {
    const reply = await subject.keys.take(hash, bucket, () => LATER_MS * 1_000);
    if (reply.kind === 'unknown') return 'unknown';
    return reply.key.status === 'revoked' ? 'revoked' : reply.key.blocked ? 'blocked' : 'let in';
  };
  const factorOf = async (hash: string) => {
    const reply = await subject.keys.take(hash, bucket, () => LATER_MS * 1_000);
    return reply.kind === 'unknown' ? undefined : reply.key.factor;
  };
  const raise = (hash: string, factor: number, atMs = LATER_MS) => subject.keys.raiseFactor(hash, { factor, atMs });
  const statusOf = async (accountId: string) => (await subject.ledger.readAccount(accountId))?.status;

  test('BILL-20 a raised factor is stored on the key, and take and read return it', async () => {
    const { old } = await openOne();
    expect(await factorOf(old)).toBeUndefined();
    const stored = { factor: 3.4, atMs: LATER_MS };
    expect(await raise(old, 3.4)).toMatchObject({ status: 'active', factor: stored });
    expect([await factorOf(old), (await subject.keys.read(old))?.factor]).toEqual([stored, stored]);
    expect(await raise('never-there', 3.4)).toBeUndefined();
    expect(await admitted('never-there')).toBe('unknown');
  });

  test('BILL-21 an allowance is stored on the key, and take and read return it', async () => {
    const { old } = await openOne();
    const allowance = { picos: 2n ** 60n, atMs: LATER_MS };
    await subject.keys.setAllowance(old, allowance);
    await subject.keys.setAllowance('never-there', allowance);
    const taken = await subject.keys.take(old, bucket, () => LATER_MS * 1_000);
    expect(taken).toMatchObject({ kind: 'taken', key: { allowance } });
    expect((await subject.keys.read(old))?.allowance).toEqual(allowance);
    const later = { picos: 1n, atMs: LATER_MS + 1 };
    await subject.keys.setAllowance(old, later);
    expect((await subject.keys.read(old))?.allowance).toEqual(later);
    expect(await admitted('never-there')).toBe('unknown');
  });

  test('BILL-20 a refused take returns the factor too', async () => {
    const { accountId, old } = await openOne();
    await raise(old, 2);
    await subject.keys.revokeKey(accountId, old);
    expect(await factorOf(old)).toEqual({ factor: 2, atMs: LATER_MS });
    expect(await raise(old, 2.5)).toMatchObject({ status: 'revoked', factor: { factor: 2.5 } });
  });

  test('BILL-20 a factor never falls, except by its decay', async () => {
    const { old } = await openOne();
    await raise(old, 3);
    const stored = { factor: 3, atMs: LATER_MS };
    for (const lower of [1.1, 2.9, 3]) expect((await raise(old, lower))?.factor).toEqual(stored);
    // After a day the factor of 3 is 2.
    const nextDayMs = LATER_MS + 86_400_000;
    for (const lower of [1.9, 2]) expect((await raise(old, lower, nextDayMs))?.factor).toEqual(stored);
    expect((await raise(old, 2.1, nextDayMs))?.factor).toEqual({ factor: 2.1, atMs: nextDayMs });
    expect((await raise(old, 4, nextDayMs))?.factor).toEqual({ factor: 4, atMs: nextDayMs });
  });

  test('BILL-20 the highest of several concurrent factors stays', async () => {
    const { old } = await openOne();
    const factors = Array.from({ length: 20 }, (_, at) => 1 + ((at * 7) % 20) / 10);
    await Promise.all(factors.map((factor) => raise(old, factor)));
    expect((await subject.keys.read(old))?.factor).toEqual({ factor: 2.9, atMs: LATER_MS });
  });

  test('BILL-20 the higher of two concurrent factors replaces a decayed one', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { old } = await openOne();
      // After five days the factor of 3.9 is about 1.1.
      await raise(old, 3.9, LATER_MS - 5 * 86_400_000);
      await race(
        () => raise(old, 2.5),
        () => raise(old, 2.8),
        round,
      );
      expect((await subject.keys.read(old))?.factor).toEqual({ factor: 2.8, atMs: LATER_MS });
    }
  });

  test('BILL-20 KEY-2 a new key gets the factor of the key that it replaces', async () => {
    const { accountId, old, next } = await openOne();
    await raise(old, 3.4);
    expect(await replace(accountId, old, next)).toBe('replaced');
    expect(await factorOf(next)).toEqual({ factor: 3.4, atMs: LATER_MS });
    expect([await admitted(old), await admitted(next)]).toEqual(['revoked', 'let in']);
    expect(await replace(accountId, old, `${next}-2`)).toBe('changed');
    const foreign = await openOne();
    expect(await factorOf(foreign.old)).toBeUndefined();
    await subject.accounts.setBlocked(accountId, true, next);
    expect(await replace(accountId, next, `${next}-3`)).toBe('blocked');
  });

  test.each(rounds)('BILL-20 KEY-2 a factor is not lost to a concurrent replacement, round %i', async (round) => {
    const { accountId, old, next } = await openOne();
    const writes: [() => Promise<unknown>, () => Promise<unknown>] = [
      async () => {
        const key = await raise(old, 3.4);
        if (key?.status === 'revoked') await raise(next, 3.4);
      },
      () => replace(accountId, old, next),
    ];
    await race(...writes, round);
    expect(await factorOf(next)).toEqual({ factor: 3.4, atMs: LATER_MS });
  });

  test('OPS-5 an account without a key gets its first key once', async () => {
    const accountId = await openWithoutKey();
    expect(await current(accountId)).toBeUndefined();
    expect(await subject.keys.putFirstKey(accountId, keyNamed(`${accountId}-a`, true), LATER_MS)).toBe('put');
    expect(await current(accountId)).toMatchObject({ hash: `${accountId}-a`, issuedAtMs: LATER_MS, isShown: true });
    expect(await admitted(`${accountId}-a`)).toBe('let in');
    expect(await subject.keys.putFirstKey(accountId, keyNamed(`${accountId}-b`), LATER_MS)).toBe('has-key');
    expect(await admitted(`${accountId}-b`)).toBe('unknown');
    expect(await current(accountId)).toMatchObject({ hash: `${accountId}-a` });
  });

  test('OPS-5 an unknown or blocked account gets no first key', async () => {
    const accountId = await openWithoutKey();
    expect(await subject.accounts.setBlocked(accountId, true, undefined)).toBe('set');
    for (const id of ['nobody', accountId]) {
      expect(await subject.keys.putFirstKey(id, keyNamed(`${id}-a`), LATER_MS)).toBe('no-account');
      expect(await current(id)).toBeUndefined();
      expect(await admitted(`${id}-a`)).toBe('unknown');
    }
  });

  test('AUTH-5 a key that exists is not given to another account, as first or next key', async () => {
    const [first, second] = [await openOne(), await openOne()];
    const third = await openWithoutKey();
    expect(await subject.keys.putFirstKey(third, keyNamed(first.old), LATER_MS)).toBe('has-key');
    expect(await current(third)).toBeUndefined();
    expect(await replace(second.accountId, second.old, first.old)).toBe('changed');
    expect(await subject.keys.read(first.old)).toMatchObject({ accountId: first.accountId, status: 'active' });
    expect(await admitted(second.old)).toBe('let in');
  });

  test('KEY-2 a replaced key works with its new value and never again with the old one', async () => {
    const { accountId, old, next } = await openOne({ creditPicos: 5n });
    expect(await replace(accountId, old, next)).toBe('replaced');
    expect([await admitted(old), await admitted(next)]).toEqual(['revoked', 'let in']);
    expect(await current(accountId)).toEqual({
      ...keyNamed(next),
      pepperId: undefined,
      issuedAtMs: LATER_MS,
      isRevoked: false,
    });
    expect(await audit(subject, accountId)).toMatchObject({ findings: [] });
  });

  test('KEY-2 an old, foreign or missing key id replaces nothing', async () => {
    const { accountId, old, next } = await openOne();
    expect(await replace(accountId, 'never-there', next)).toBe('changed');
    expect(await replace(accountId, old, next)).toBe('replaced');
    expect(await replace(accountId, old, `${next}-2`)).toBe('changed');
    // A repeat after a lost reply.
    expect(await replace(accountId, old, next)).toBe('changed');
    expect([await admitted(old), await admitted(next), await admitted(`${next}-2`)]).toEqual([
      'revoked',
      'let in',
      'unknown',
    ]);
    expect(await current(accountId)).toMatchObject({ hash: next });
    const keyless = await openWithoutKey();
    expect(await replace(keyless, 'none', `${keyless}-a`)).toBe('changed');
    expect([await current(keyless), await admitted(`${keyless}-a`)]).toEqual([undefined, 'unknown']);
  });

  test('KEY-2 the key of a blocked account is replaced only after it is unblocked', async () => {
    const { accountId, old, next } = await openOne();
    await subject.accounts.setBlocked(accountId, true, old);
    expect(await replace(accountId, old, next)).toBe('blocked');
    expect([await admitted(old), await admitted(next)]).toEqual(['blocked', 'unknown']);
    expect(await current(accountId)).toMatchObject({ hash: old });
    await subject.accounts.setBlocked(accountId, false, old);
    expect(await replace(accountId, old, next)).toBe('replaced');
    expect([await admitted(old), await admitted(next)]).toEqual(['revoked', 'let in']);
  });

  test('KEY-2 one of several concurrent replacements wins, and one key works', async () => {
    for (const _round of rounds) {
      const { accountId, old, next } = await openOne();
      const hashes = [1, 2, 3, 4, 5].map((rival) => `${next}-${rival}`);
      const replies = await Promise.all(hashes.map((hash) => replace(accountId, old, hash)));
      expect(replies.toSorted()).toEqual([...Array(4).fill('changed'), 'replaced']);
      const winner = hashes.filter((_, at) => replies[at] === 'replaced');
      expect([(await current(accountId))?.hash]).toEqual(winner);
      expect(await admitted(old)).toBe('revoked');
      for (const hash of hashes) expect(await admitted(hash)).toBe(winner.includes(hash) ? 'let in' : 'unknown');
    }
  });

  test('OPS-5 a revoked key stays the current one, and can be replaced', async () => {
    const { accountId, old, next } = await openOne();
    expect(await subject.keys.revokeKey(accountId, 'never-there')).toBe('changed');
    expect(await admitted(old)).toBe('let in');
    const before = await current(accountId);
    for (const _again of [1, 2]) {
      expect(await subject.keys.revokeKey(accountId, old)).toBe('revoked');
      expect(await admitted(old)).toBe('revoked');
      expect(await current(accountId)).toEqual({ ...before, isRevoked: true });
    }
    expect(await replace(accountId, old, next)).toBe('replaced');
    expect(await current(accountId)).toMatchObject({ hash: next, isRevoked: false });
    expect(await subject.keys.revokeKey(accountId, old)).toBe('changed');
    expect([await admitted(old), await admitted(next)]).toEqual(['revoked', 'let in']);
    expect(await subject.keys.revokeKey('nobody', 'none')).toBe('changed');
  });

  test('AUTH-4, OPS-5 a blocked account places no hold, and its key works again after unblocking', async () => {
    const { accountId, old } = await openOne({ creditPicos: 100n });
    const hold = { accountId, amountPicos: 1n, expiresAtMs: LATER_MS, sweepAtMs: LATER_MS, previousHoldId: undefined };
    const before = await subject.ledger.readAccount(accountId);
    expect(await subject.accounts.setBlocked(accountId, true, old)).toBe('set');
    expect([await statusOf(accountId), await admitted(old)]).toEqual(['blocked', 'blocked']);
    expect(await subject.ledger.hold({ ...hold, holdId: 'while-blocked' })).toMatchObject({ kind: 'refused' });
    expect(await subject.accounts.setBlocked(accountId, false, old)).toBe('set');
    expect([await statusOf(accountId), await admitted(old)]).toEqual(['active', 'let in']);
    expect(await subject.ledger.readAccount(accountId)).toEqual({ ...before, version: (before?.version ?? 0) + 2 });
    expect(await subject.ledger.hold({ ...hold, holdId: 'afterwards' })).toMatchObject({ kind: 'held' });
  });

  test('OPS-5 a block that names another key or no key changes nothing', async () => {
    const { accountId, old } = await openOne();
    const keyless = await openWithoutKey();
    for (const [id, hash] of [
      [accountId, 'never-there'],
      [accountId, undefined],
      [keyless, old],
    ] as const) {
      expect(await subject.accounts.setBlocked(id, true, hash)).toBe('changed');
      expect(await statusOf(id)).toBe('active');
    }
    expect(await admitted(old)).toBe('let in');
    for (const hash of ['none', undefined]) {
      expect(await subject.accounts.setBlocked('nobody', true, hash)).toBe('no-account');
    }
    expect(await statusOf('nobody')).toBeUndefined();
  });

  const block = (accountId: string) =>
    blockAccount({ ...subject, clock: systemClock, random: Math.random }, accountId, true);

  /** Starts two writers of one account together, each of them first in half of the rounds. */
  const race = async (one: () => Promise<unknown>, other: () => Promise<unknown>, round: number): Promise<void> => {
    await Promise.all((round % 2 === 0 ? [one, other] : [other, one]).map((call) => call()));
  };

  test.each(rounds)(
    'KEY-2, OPS-5 concurrent blocks and new keys leave a blocked account no usable key, round %i',
    async (round) => {
      const { accountId, old, next } = await openOne();
      await race(
        () => block(accountId),
        () => replace(accountId, old, next),
        round,
      );
      const keyless = await openWithoutKey();
      const first = `${keyless}-a`;
      await race(
        () => block(keyless),
        () => subject.keys.putFirstKey(keyless, keyNamed(first), LATER_MS),
        round,
      );
      for (const id of [accountId, keyless]) expect(await statusOf(id)).toBe('blocked');
      for (const hash of [old, next, first]) expect(await admitted(hash)).not.toBe('let in');
      expect(await subject.keys.read((await current(accountId))?.hash ?? '')).toMatchObject({ blocked: true });
    },
  );

  test.each(rounds)('KEY-2, OPS-5 concurrent revocation and replacement end the old key, round %i', async (round) => {
    const { accountId, old, next } = await openOne();
    await race(
      () => subject.keys.revokeKey(accountId, old),
      () => replace(accountId, old, next),
      round,
    );
    expect([await admitted(old), await admitted(next)]).toEqual(['revoked', 'let in']);
    expect(await current(accountId)).toMatchObject({ hash: next, isRevoked: false });
  });

  test('KEY-2 a rotation returns its key only after the store has replaced the old one', async () => {
    const { accountId, old } = await openOne();
    const later = createMoment();
    const stores = withAccountAndKeyFaults(subject, { replaceKey: [{ kind: 'delayed', until: later.until }] });
    const newKeyBytes = () => randomBytes(32);
    const deps = { ...stores, clock: systemClock, random: () => 0, pepper: 'a pepper for tests', newKeyBytes };
    const admissions: string[] = [];
    const rotated = rotateKey(deps, { accountId, keyId: keyIdOf(old) }).then(async () => {
      admissions.push(await admitted(old));
    });
    await vi.waitUntil(() => stores.calls.includes('replaceKey'), WAIT);
    admissions.push(await admitted(old));
    later.come();
    await rotated;
    expect(admissions).toEqual(['let in', 'revoked']);
  });

  test('KEY-1, KEY-2 writes repeated after lost replies leave one account with one key', async () => {
    const deps = (faults: Parameters<typeof withAccountAndKeyFaults>[1]) => ({
      ...withAccountAndKeyFaults(subject, faults),
      clock: systemClock,
      random: () => 0,
      pepper: 'a pepper for tests',
      newKeyBytes: () => randomBytes(32),
      newAccountId: () => `lost-${randomUUID()}`,
      startCreditPicos: 7n,
    });
    const opened = await startChat(deps({ open: [losesReply, losesReply] }), 'lost-chat');
    const replaced = await startChat(deps({ replaceKey: [losesReply, conflict] }), 'lost-chat');
    if (opened.kind !== 'key' || replaced.kind !== 'key') throw new Error('no key');
    const { accountId } = opened;
    const rotated = await rotateKey(deps({ replaceKey: [losesReply] }), { accountId, keyId: keyIdOf(replaced.hash) });
    expect(rotated.id).toBe(keyIdOf((await current(accountId))?.hash ?? ''));
    expect([await admitted(opened.hash), await admitted(replaced.hash)]).toEqual(['revoked', 'revoked']);
    expect(await admitted((await current(accountId))?.hash ?? '')).toBe('let in');
    expect(await subject.ledger.readAccount(accountId)).toMatchObject({ availablePicos: 7n, creditedPicos: 7n });
    expect(await audit(subject, accountId)).toMatchObject({ findings: [] });
  });
});
