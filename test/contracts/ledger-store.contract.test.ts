import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, HOLDS_MAX } from '../../lambdas/core/ledger/account.ts';
import type { ChargeRecord } from '../../lambdas/core/ledger/charge-record.ts';
import type { HoldRequest, LedgerStore } from '../../lambdas/core/ledger/ledger-store.ts';
import { expectBalanced, type LedgerSubject, ledgerSubjects, watched } from './ledger-subjects.ts';

const AT = Date.UTC(2026, 10, 1);
/** More than a double can hold exactly, in a number that ends in no zero. */
const HUGE = 2n ** 53n * 1_000n + 7n;

describe.each(ledgerSubjects)('the ledger store $name', ({ open }) => {
  let subject: LedgerSubject;
  let store: LedgerStore;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
    store = watched(subject.store);
  });
  afterAll(() => subject?.stop());

  /** A new account with this much money. */
  const account = async (amountPicos: bigint): Promise<string> => {
    count += 1;
    const accountId = `account-${count}`;
    expect(await store.createAccount(accountId)).toBe('created');
    if (amountPicos > 0n) await credit(accountId, amountPicos);
    return accountId;
  };
  const credit = (accountId: string, amountPicos: bigint, ref = 'first') =>
    store.credit({ accountId, ref, amountPicos, reason: 'test', at: AT });
  const order = (accountId: string, changes: Partial<HoldRequest> = {}): HoldRequest => ({
    accountId,
    holdId: 'r.0',
    amountPicos: 40n,
    expiresAtMs: AT + 900_000,
    sweepAtMs: AT + 300_000,
    previousHoldId: undefined,
    ...changes,
  });
  const record = (accountId: string, changes: Partial<ChargeRecord> = {}): ChargeRecord => ({
    accountId,
    holdId: 'r.0',
    requestId: 'r',
    outcome: 'settled',
    amountPicos: 25n,
    at: AT,
    ...changes,
  });
  const read = async (accountId: string): Promise<Account> => {
    const found = await store.readAccount(accountId);
    if (!found) throw new Error(`no ${accountId}`);
    return found;
  };
  const money = async (accountId: string) => {
    const { availablePicos, creditedPicos, spentPicos } = await read(accountId);
    return [availablePicos, creditedPicos, spentPicos];
  };

  describe('hold', () => {
    test('BILL-1 takes the amount from what is available and shows the account after it', async () => {
      const id = await account(100n);
      const reply = await store.hold(order(id));
      expect(reply).toEqual({ kind: 'held', account: await read(id) });
      expect(await read(id)).toEqual({
        id,
        status: 'active',
        availablePicos: 60n,
        creditedPicos: 100n,
        spentPicos: 0n,
        holds: new Map([['r.0', { amountPicos: 40n, expiresAtMs: AT + 900_000 }]]),
        version: 2,
      });
    });

    test('BILL-1 all that is available can be held, and not a pico-dollar more', async () => {
      const id = await account(100n);
      expect(await store.hold(order(id, { amountPicos: 101n }))).toEqual({ kind: 'refused', account: await read(id) });
      expect(await store.hold(order(id, { amountPicos: 100n }))).toMatchObject({ kind: 'held' });
      expect(await money(id)).toEqual([0n, 100n, 0n]);
    });

    test('AUTH-4 a balance of 0 or less holds nothing, not even an amount of 0', async () => {
      const id = await account(0n);
      expect(await store.hold(order(id, { amountPicos: 0n }))).toMatchObject({ kind: 'refused' });
      await credit(id, 10n);
      expect(await store.hold(order(id, { amountPicos: 0n }))).toMatchObject({ kind: 'held' });
    });

    test('BILL-7 a balance spent to below zero holds nothing, though an open hold keeps part of it', async () => {
      const id = await account(100n);
      await store.hold(order(id, { amountPicos: 60n }));
      await store.hold(order(id, { holdId: 's.0', amountPicos: 30n }));
      const overage = record(id, { amountPicos: 120n, overage: true });
      await store.apply(overage, 60n);
      expect(await money(id)).toEqual([-50n, 100n, 120n]);
      expect(await store.hold(order(id, { holdId: 't.0', amountPicos: 0n }))).toMatchObject({ kind: 'refused' });
    });

    test('AUTH-4 a blocked account is refused and shown as blocked', async () => {
      const id = await account(100n);
      await subject.block(id);
      expect(await store.hold(order(id))).toMatchObject({ kind: 'refused', account: { status: 'blocked' } });
    });

    test('BILL-13 an id that is held is refused, and the open hold is shown', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const reply = await store.hold(order(id, { amountPicos: 10n }));
      expect(reply).toMatchObject({ kind: 'refused', account: { holds: new Map([['r.0', { amountPicos: 40n }]]) } });
    });

    test('BILL-13 while the id before is held the next one is refused, and the one before is shown', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const next = order(id, { holdId: 'r.1', previousHoldId: 'r.0' });
      const reply = await store.hold(next);
      expect(reply.kind === 'refused' && [...reply.account.holds.keys()]).toEqual(['r.0']);
      await store.apply(record(id), 40n);
      expect(await store.hold(next)).toMatchObject({ kind: 'held' });
    });

    test('LIM-8 200 holds may be open, the next is refused', async () => {
      const id = await account(1_000n);
      for (let index = 0; index < HOLDS_MAX; index += 1) {
        const reply = await subject.store.hold(order(id, { holdId: `r${index}.0`, amountPicos: 1n }));
        expect(reply.kind).toBe('held');
      }
      const reply = await store.hold(order(id, { holdId: 'more.0', amountPicos: 1n }));
      expect(reply.kind === 'refused' && reply.account.holds.size).toBe(HOLDS_MAX);
      await store.apply(record(id, { holdId: 'r7.0', amountPicos: 1n }), 1n);
      expect(await store.hold(order(id, { holdId: 'more.0', amountPicos: 1n }))).toMatchObject({ kind: 'held' });
    });

    test('BILL-14 an account that is missing is told apart and is not created', async () => {
      expect(await store.hold(order('nobody'))).toEqual({ kind: 'no-account' });
      expect(await store.readAccount('nobody')).toBeUndefined();
    });

    test('BILL-3 amounts beyond 2^53 stay exact', async () => {
      const id = await account(HUGE * 3n);
      await store.hold(order(id, { amountPicos: HUGE }));
      expect(await money(id)).toEqual([HUGE * 2n, HUGE * 3n, 0n]);
      await store.apply(record(id, { amountPicos: HUGE - 1n }), HUGE);
      expect(await money(id)).toEqual([HUGE * 2n + 1n, HUGE * 3n, HUGE - 1n]);
    });

    test('BILL-3 round amounts far above any balance are read back whole', async () => {
      const id = await account(10n ** 27n);
      expect(await money(id)).toEqual([10n ** 27n, 10n ** 27n, 0n]);
    });

    test('BILL-1 of 50 holds at once exactly those are placed that the money is enough for', async () => {
      const id = await account(1_000n);
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) => subject.store.hold(order(id, { holdId: `r${index}.0` }))),
      );
      expect(replies.filter((reply) => reply.kind === 'held')).toHaveLength(25);
      const after = await read(id);
      expectBalanced(after);
      expect([after.availablePicos, after.holds.size, after.version]).toEqual([0n, 25, 26]);
    });
  });

  describe('record', () => {
    const full: Partial<ChargeRecord> = {
      reason: 'because',
      model: 'alpha-1',
      usage: { input: 12, output: 2 ** 52 },
      prices: { input: HUGE, output: 0n },
      overage: true,
      implausible: true,
      endUser: 'Zoë',
      amountPicos: HUGE * HUGE,
    };

    test('BILL-13 the first record counts, and whoever comes second is shown the whole of it', async () => {
      const id = await account(0n);
      const first = record(id, full);
      expect(await store.putRecord(first)).toEqual({ kind: 'written' });
      const late = record(id, { outcome: 'released', amountPicos: 0n, reason: 'expired' });
      expect(await store.putRecord(late)).toEqual({ kind: 'exists', record: first });
      expect(await store.readRecord(id, 'r.0')).toEqual(first);
    });

    test('BILL-13 of many writers at once one is first, and all others see its record', async () => {
      const id = await account(0n);
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, index) => subject.store.putRecord(record(id, { at: AT + index }))),
      );
      const winners = replies.flatMap((reply, index) => (reply.kind === 'written' ? [index] : []));
      expect(winners).toHaveLength(1);
      const kept = await store.readRecord(id, 'r.0');
      expect(kept?.at).toBe(AT + (winners[0] ?? -1));
      for (const reply of replies) if (reply.kind === 'exists') expect(reply.record).toEqual(kept);
    });

    test('BILL-15 a record with the required fields alone is read back without others', async () => {
      const id = await account(0n);
      const released = record(id, { outcome: 'released', amountPicos: 0n });
      await store.putRecord({ ...released, overage: false, implausible: false, usage: {} });
      expect(await store.readRecord(id, 'r.0')).toEqual({ ...released, usage: {} });
      expect(await store.readRecord(id, 'r.1')).toBeUndefined();
    });
  });

  describe('apply', () => {
    test('BILL-3 a settled record gives back the rest and counts the charge', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const after = await store.apply(record(id), 40n);
      expect(after).toEqual(await read(id));
      expect(await money(id)).toEqual([75n, 100n, 25n]);
      expect((await read(id)).holds.size).toBe(0);
    });

    test('BILL-2 a released record gives back the whole hold', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      await store.apply(record(id, { outcome: 'released', amountPicos: 0n }), 40n);
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('BILL-7 a charge above the hold may push what is available below zero', async () => {
      const id = await account(100n);
      await store.hold(order(id, { amountPicos: 100n }));
      await store.apply(record(id, { amountPicos: 150n, overage: true }), 100n);
      expect(await money(id)).toEqual([-50n, 100n, 150n]);
    });

    test('BILL-13 nothing moves without a hold, with another amount, a second time, or without an account', async () => {
      const id = await account(100n);
      expect(await store.apply(record(id), 40n)).toBeUndefined();
      await store.hold(order(id));
      expect(await store.apply(record(id), 41n)).toBeUndefined();
      expect(await store.apply(record(id), 40n)).toBeDefined();
      expect(await store.apply(record(id), 40n)).toBeUndefined();
      expect(await store.apply(record('nobody'), 40n)).toBeUndefined();
      expect(await money(id)).toEqual([75n, 100n, 25n]);
    });

    test('BILL-13 of many at once one moves the money', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const replies = await Promise.all(Array.from({ length: 20 }, () => subject.store.apply(record(id), 40n)));
      expect(replies.filter((reply) => reply !== undefined)).toHaveLength(1);
      expect(await money(id)).toEqual([75n, 100n, 25n]);
    });
  });

  describe('account and credit', () => {
    test('KEY-1 an account is created once, and what it has is kept', async () => {
      const id = await account(100n);
      expect(await store.createAccount(id)).toBe('exists');
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('KEY-6 a reference credits once; with another amount it is an error and tells the first', async () => {
      const id = await account(100n);
      expect(await credit(id, 100n)).toEqual({ kind: 'repeated' });
      expect(await credit(id, 99n)).toEqual({ kind: 'other-amount', amountPicos: 100n });
      expect(await credit(id, 5n, 'second')).toEqual({ kind: 'credited' });
      expect(await money(id)).toEqual([105n, 105n, 0n]);
    });

    test('KEY-6 a credit to an account that is missing leaves nothing behind', async () => {
      const id = `late-${count}`;
      expect(await credit(id, 5n)).toEqual({ kind: 'no-account' });
      await store.createAccount(id);
      expect(await credit(id, 5n)).toEqual({ kind: 'credited' });
    });

    test('KEY-6 one reference sent many times at once is credited once', async () => {
      const id = await account(0n);
      const send = () => subject.store.credit({ accountId: id, ref: 'same', amountPicos: 7n, reason: 'test', at: AT });
      const settled = await Promise.allSettled(Array.from({ length: 10 }, send));
      const kinds = settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.kind : 'refused'));
      expect(kinds.filter((kind) => kind === 'credited')).toHaveLength(1);
      expect(await money(id)).toEqual([7n, 7n, 0n]);
    });
  });

  describe('sweep list', () => {
    const isDue = async (id: string, nowMs: number) =>
      (await store.due(nowMs)).some(({ accountId }) => accountId === id);

    test('BILL-13 an account without holds is not on it; the first hold puts it there, the next leaves its time', async () => {
      const id = await account(100n);
      expect(await subject.sweepAtOf(id)).toBeUndefined();
      await store.hold(order(id));
      await store.hold(order(id, { holdId: 's.0', sweepAtMs: AT + 1 }));
      expect(await subject.sweepAtOf(id)).toBe(AT + 300_000);
      expect(await isDue(id, AT + 299_999)).toBe(false);
      expect(await isDue(id, AT + 300_000)).toBe(true);
    });

    test('BILL-13 a refused hold puts nobody on it', async () => {
      const id = await account(10n);
      await store.hold(order(id));
      expect(await subject.sweepAtOf(id)).toBeUndefined();
    });

    test('BILL-13 an account leaves it only while no hold is open', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const before = await read(id);
      await store.reschedule(id, undefined);
      expect(await read(id)).toEqual(before);
      expect(await isDue(id, AT + 300_000)).toBe(true);
      await store.apply(record(id), 40n);
      await store.reschedule(id, undefined);
      expect(await isDue(id, AT + 10 ** 9)).toBe(false);
      expect((await read(id)).version).toBe(before.version + 2);
    });

    test('BILL-13 a new time replaces the old one, and counts as a write', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const { version } = await read(id);
      await store.reschedule(id, AT + 600_000);
      expect([await isDue(id, AT + 599_999), await isDue(id, AT + 600_000)]).toEqual([false, true]);
      expect((await read(id)).version).toBe(version + 1);
    });

    test('BILL-13 an account that is missing is not put on it', async () => {
      await store.reschedule('nobody', AT);
      await store.reschedule('nobody', undefined);
      expect(await isDue('nobody', AT)).toBe(false);
      expect(await store.readAccount('nobody')).toBeUndefined();
    });

    test('BILL-13 accounts of every shard are found', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 12; index += 1) ids.push(await account(100n));
      for (const id of ids) await store.hold(order(id, { sweepAtMs: AT - 5 }));
      const found = (await store.due(AT - 5)).map(({ accountId }) => accountId);
      expect(found.toSorted()).toEqual(ids.toSorted());
    });
  });
});
