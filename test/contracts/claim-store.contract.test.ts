import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Claim, ClaimRequest, PreparedAnswer } from '../../lambdas/core/idempotency/claim-store.ts';
import { type ClaimSubject, claimSubjects } from './claim-subjects.ts';

const NOW = Date.UTC(2026, 10, 1);
const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;

const answerOf = (body: string, holdId = 'first.0'): PreparedAnswer => ({
  holdId,
  hash: 'a'.repeat(64),
  content: { status: 200, headers: { 'content-type': 'application/json', 'x-service-cost-usd': '0.001' }, body },
});

describe.each(claimSubjects)('the claim store $name', ({ open }) => {
  let subject: ClaimSubject;
  let keys = 0;
  let ref = { accountId: 'account-1', keyHash: '' };
  beforeAll(async () => {
    subject = await open();
  });
  beforeEach(() => {
    keys += 1;
    ref = { accountId: 'account-1', keyHash: String(keys).padStart(64, '0') };
  });

  const request = (owner: string, changes: Partial<ClaimRequest> = {}): ClaimRequest => {
    const nowMs = changes.nowMs ?? NOW;
    const times = { nowMs, leaseUntilMs: nowMs + LEASE_MS, expiresAtMs: nowMs + DAY_MS };
    return { ...ref, owner, fingerprint: 'print', dispatchesMax: 6, ...times, ...changes };
  };
  const claim = (owner: string, changes?: Partial<ClaimRequest>) => subject.store.claim(request(owner, changes));
  const takeOver = (from: string, owner: string, nowMs: number) => {
    const { fingerprint: _, dispatchesMax: __, ...rest } = request(owner, { nowMs });
    return subject.store.takeOver({ ...rest, from });
  };
  const present = async (): Promise<Claim> => {
    const found = await subject.store.read(ref);
    if (!found) throw new Error('no claim');
    return found;
  };
  const prepare = (owner: string, body = '{}') => subject.store.stageResponse(ref, owner, answerOf(body), NOW + DAY_MS);
  const claimed = (dispatches: number) => ({ kind: 'claimed', dispatches });

  /** Expects that the store rejects every write that only the current owner may make. */
  const expectShutOut = async (owner: string): Promise<void> => {
    const before = await subject.store.read(ref);
    expect(await subject.store.renew(ref, owner, NOW + DAY_MS)).toBe(false);
    expect(await prepare(owner, 'too late')).toBe(false);
    expect(await subject.store.free(ref, owner, 0)).toBe(false);
    expect(await subject.store.free(ref, owner, 1)).toBe(false);
    expect(await subject.store.read(ref)).toEqual(before);
  };

  test('IDEM-6 a new key is claimed, and the claim has the members of the request', async () => {
    expect(await subject.store.read(ref)).toBeUndefined();
    expect(await claim('first')).toEqual(claimed(1));
    expect(await subject.store.read(ref)).toEqual({
      owner: 'first',
      leaseUntilMs: NOW + LEASE_MS,
      fingerprint: 'print',
      state: 'open',
      dispatches: 1,
      expiresAtMs: NOW + DAY_MS,
      prepared: undefined,
    });
  });

  test('IDEM-6 the same key of another account is another key', async () => {
    await claim('first');
    expect(await claim('second', { accountId: 'account-2' })).toEqual(claimed(1));
    expect((await present()).owner).toBe('first');
  });

  test('IDEM-4 a second request is rejected with the claim, during the lease and after it', async () => {
    await claim('first');
    for (const nowMs of [NOW, NOW + LEASE_MS, NOW + LEASE_MS + 1])
      expect(await claim('second', { nowMs })).toEqual({ kind: 'refused', claim: await present() });
    expect((await present()).owner).toBe('first');
  });

  test('IDEM-8 one of twenty concurrent requests gets the claim', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => claim(`r${index}`)));
    expect(replies.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect((await present()).dispatches).toBe(1);
  });

  test('IDEM-8 an owner that repeats its claim of a new or freed key gets the same result', async () => {
    expect(await claim('first')).toEqual(claimed(1));
    expect(await claim('first')).toEqual(claimed(1));
    await subject.store.free(ref, 'first', 1);
    expect(await claim('second')).toEqual(claimed(2));
    expect(await claim('second')).toEqual(claimed(2));
    expect((await present()).dispatches).toBe(2);
  });

  test('IDEM-8 only its owner extends a lease, and never shortens it', async () => {
    await claim('first');
    expect(await subject.store.renew(ref, 'first', NOW + 90_000)).toBe(true);
    expect((await present()).leaseUntilMs).toBe(NOW + 90_000);
    expect(await subject.store.renew(ref, 'first', NOW + 80_000)).toBe(true);
    expect((await present()).leaseUntilMs).toBe(NOW + 90_000);
    expect(await subject.store.renew(ref, 'first', NOW + 90_000)).toBe(true);
    expect(await subject.store.renew(ref, 'second', NOW + 95_000)).toBe(false);
    expect((await present()).leaseUntilMs).toBe(NOW + 90_000);
  });

  test('IDEM-8 a key without a claim can only be claimed', async () => {
    await expectShutOut('first');
    expect(await subject.store.complete(ref, 'first')).toBe(false);
    expect(await takeOver('first', 'second', NOW + DAY_MS)).toEqual({ kind: 'refused', claim: undefined });
    expect(await subject.store.read(ref)).toBeUndefined();
  });

  test('IDEM-2 a response is staged and completed by its owner, and kept unchanged', async () => {
    await claim('first');
    expect(await subject.store.complete(ref, 'first')).toBe(false);
    expect(await prepare('second')).toBe(false);
    const answer = answerOf('{"text":"\u0000 ünï \u{1f600} \\"quoted\\""}');
    expect(await subject.store.stageResponse(ref, 'first', answer, NOW + DAY_MS + 5)).toBe(true);
    const prepared = { state: 'prepared', prepared: answer, expiresAtMs: NOW + DAY_MS + 5, owner: 'first' };
    expect(await present()).toMatchObject(prepared);
    expect(await subject.store.renew(ref, 'first', NOW + 90_000)).toBe(true);
    expect(await subject.store.complete(ref, 'second')).toBe(false);
    expect(await present()).toMatchObject(prepared);
    expect(await subject.store.complete(ref, 'first')).toBe(true);
    expect(await subject.store.complete(ref, 'first')).toBe(true);
    expect(await present()).toMatchObject({ ...prepared, state: 'done' });
  });

  test('IDEM-2 a completed claim does not change until it expires', async () => {
    await claim('first');
    await prepare('first', 'the answer');
    await subject.store.complete(ref, 'first');
    await expectShutOut('first');
    const done = await present();
    expect(await takeOver('first', 'second', NOW + LEASE_MS)).toEqual({ kind: 'refused', claim: done });
    expect(await claim('second', { nowMs: NOW + DAY_MS - 1 })).toEqual({ kind: 'refused', claim: done });
    expect(await present()).toEqual(done);
  });

  test('IDEM-7 a claim contains a response of 256 KB, and names the object of a larger one', async () => {
    await claim('first');
    const body = 'é'.repeat(131_072);
    expect(await prepare('first', body)).toBe(true);
    expect((await present()).prepared).toEqual(answerOf(body));
    const refused = await claim('second');
    expect(refused).toEqual({ kind: 'refused', claim: await present() });
    const elsewhere = { holdId: 'first.0', hash: 'b', content: { objectName: 'account-1/first' } };
    expect(await subject.store.stageResponse(ref, 'first', elsewhere, NOW + DAY_MS)).toBe(true);
    expect((await present()).prepared).toEqual(elsewhere);
  });

  test('IDEM-7 a claim freed before any dispatch is gone', async () => {
    await claim('first');
    expect(await subject.store.free(ref, 'second', 0)).toBe(false);
    expect(await subject.store.free(ref, 'first', 0)).toBe(true);
    expect(await subject.store.read(ref)).toBeUndefined();
    expect(await subject.store.free(ref, 'first', 0)).toBe(false);
    expect(await claim('second', { fingerprint: 'another' })).toEqual(claimed(1));
  });

  test('IDEM-7 a claim freed after a dispatch keeps its count and fingerprint, not its response', async () => {
    await claim('first');
    await prepare('first');
    expect(await subject.store.free(ref, 'first', 1)).toBe(true);
    expect(await present()).toMatchObject({ state: 'free', dispatches: 1, prepared: undefined });
    await expectShutOut('first');
    expect(await subject.store.complete(ref, 'first')).toBe(false);
    expect(await takeOver('first', 'second', NOW + LEASE_MS)).toEqual({ kind: 'refused', claim: await present() });
    expect(await claim('second', { fingerprint: 'another' })).toEqual({ kind: 'refused', claim: await present() });
    expect(await claim('second', { nowMs: NOW + 5 })).toEqual(claimed(2));
    expect(await present()).toMatchObject({
      owner: 'second',
      state: 'open',
      leaseUntilMs: NOW + 5 + LEASE_MS,
      expiresAtMs: NOW + 5 + DAY_MS,
    });
    await expectShutOut('first');
  });

  test('IDEM-7 a freed claim is rejected only at the limit of dispatches', async () => {
    for (let dispatches = 1; dispatches <= 6; dispatches += 1) {
      expect(await claim(`r${dispatches}`)).toEqual(claimed(dispatches));
      expect(await subject.store.free(ref, `r${dispatches}`, dispatches)).toBe(true);
    }
    expect(await claim('r7')).toEqual({ kind: 'refused', claim: await present() });
    expect(await claim('r8', { dispatchesMax: 7 })).toEqual(claimed(7));
  });

  test('IDEM-7 a freed claim continues from the number of dispatches that it was freed with', async () => {
    await claim('first');
    await subject.store.free(ref, 'first', 4);
    expect(await claim('second')).toEqual(claimed(5));
  });

  test.each(['open', 'prepared', 'free', 'done'] as const)(
    'IDEM-7 an expired %s claim restarts for any fingerprint after its lease',
    async (state) => {
      await claim('first', { expiresAtMs: NOW + 1_000 });
      if (state === 'prepared' || state === 'done')
        await subject.store.stageResponse(ref, 'first', answerOf('{}'), NOW + 1_000);
      if (state === 'done') await subject.store.complete(ref, 'first');
      if (state === 'free') await subject.store.free(ref, 'first', 3);
      expect((await present()).state).toBe(state);
      const other = { fingerprint: 'another' };
      for (const nowMs of [NOW + 999, NOW + 1_000, NOW + LEASE_MS - 1])
        expect((await claim('second', { ...other, nowMs })).kind, String(nowMs)).toBe('refused');
      expect(await claim('second', { ...other, nowMs: NOW + LEASE_MS })).toEqual(claimed(1));
      expect(await present()).toEqual({
        owner: 'second',
        leaseUntilMs: NOW + 2 * LEASE_MS,
        fingerprint: 'another',
        state: 'open',
        dispatches: 1,
        expiresAtMs: NOW + LEASE_MS + DAY_MS,
        prepared: undefined,
      });
      await expectShutOut('first');
    },
  );

  test('IDEM-8 a claim is taken over only from the given owner and after its lease', async () => {
    await claim('first');
    await prepare('first');
    const old = await present();
    expect(await takeOver('first', 'second', NOW + LEASE_MS - 1)).toEqual({ kind: 'refused', claim: old });
    expect(await takeOver('another', 'second', NOW + LEASE_MS)).toEqual({ kind: 'refused', claim: old });
    expect(await takeOver('first', 'second', NOW + LEASE_MS)).toEqual({ kind: 'taken', dispatches: 2 });
    expect(await present()).toEqual({
      owner: 'second',
      leaseUntilMs: NOW + 2 * LEASE_MS,
      fingerprint: 'print',
      state: 'open',
      dispatches: 2,
      expiresAtMs: NOW + LEASE_MS + DAY_MS,
      prepared: undefined,
    });
    // The reply was lost, and the call is repeated.
    expect(await takeOver('first', 'second', NOW + LEASE_MS)).toEqual({ kind: 'taken', dispatches: 2 });
    expect((await present()).dispatches).toBe(2);
  });

  test('IDEM-8 after a takeover the old owner can change nothing', async () => {
    await claim('first');
    await takeOver('first', 'second', NOW + LEASE_MS);
    await expectShutOut('first');
    await prepare('second', 'of the second');
    await expectShutOut('first');
    expect(await subject.store.complete(ref, 'first')).toBe(false);
    expect(await takeOver('first', 'third', NOW + DAY_MS)).toEqual({ kind: 'refused', claim: await present() });
    expect((await present()).prepared).toEqual(answerOf('of the second'));
  });

  test('IDEM-8 no takeover succeeds during a renewed lease, and one of ten after it', async () => {
    await claim('first');
    await subject.store.renew(ref, 'first', NOW + 2 * LEASE_MS);
    const race = (nowMs: number) =>
      Promise.all(Array.from({ length: 10 }, (_, index) => takeOver('first', `r${index}`, nowMs)));
    expect((await race(NOW + LEASE_MS)).filter(({ kind }) => kind === 'taken')).toEqual([]);
    expect((await race(NOW + 2 * LEASE_MS)).filter(({ kind }) => kind === 'taken')).toHaveLength(1);
    expect((await present()).dispatches).toBe(2);
  });

  test.for([LEASE_MS, 2 * DAY_MS])(
    'OPS-11 a claim in a newer state with a lease of %d ms has no owner',
    async (leaseMs) => {
      const { setState } = subject;
      if (!setState) return;
      await claim('r1', { leaseUntilMs: NOW + leaseMs });
      await prepare('r1');
      await setState(ref, 'streaming');
      const endsAtMs = NOW + Math.max(leaseMs, DAY_MS);
      expect(await present()).toMatchObject({ state: 'unknown', leaseUntilMs: endsAtMs });
      await expectShutOut('r1');
      expect(await subject.store.complete(ref, 'r1')).toBe(false);
      for (const owner of ['r1', 'r2']) {
        expect(await claim(owner, { nowMs: endsAtMs - 1 })).toMatchObject({ kind: 'refused', claim: { owner: 'r1' } });
        expect(await takeOver('r1', owner, endsAtMs)).toMatchObject({ kind: 'refused', claim: { state: 'unknown' } });
      }
      expect(await claim('r2', { nowMs: endsAtMs })).toEqual(claimed(1));
    },
  );

  test('IDEM-7 the time to live is after the expiry and after every lease, in seconds', async () => {
    await claim('first');
    const cleanedUpAt = await subject.cleanedUpAt(ref);
    if (cleanedUpAt === undefined) return;
    expect(cleanedUpAt).toBe((NOW + DAY_MS) / 1_000 + 3_600);
    await subject.store.stageResponse(ref, 'first', answerOf('{}'), NOW + 2 * DAY_MS);
    expect(await subject.cleanedUpAt(ref)).toBe((NOW + 2 * DAY_MS) / 1_000 + 3_600);
    await takeOver('first', 'second', NOW + LEASE_MS);
    expect(await subject.cleanedUpAt(ref)).toBe((NOW + LEASE_MS + DAY_MS) / 1_000 + 3_600);
  });
});
