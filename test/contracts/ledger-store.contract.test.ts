import { describe, expect, test } from 'vitest';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { AT, HOLD, HUGE, ledgerScene, REQUEST } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

describe.each(ledgerSubjects)('the ledger store $name', ({ open }) => {
  const { store, account, credit, order, record, read, money, subject } = ledgerScene(open);

  describe('record', () => {
    const full: Partial<ChargeRecord> = {
      reason: 'because',
      model: 'alpha-1',
      usage: { input: 12, output: 2 ** 52 },
      prices: { input: HUGE, output: 0n },
      overage: true,
      implausible: true,
      cutAtStop: true,
      endUser: 'Zoë',
      answer: 'a'.repeat(64),
      costPicos: HUGE,
    };

    test.each([
      ['2^53 + 1', () => HUGE],
      ['the largest of the engine', () => subject().amountMaxPicos],
    ])(
      'BILL-13 the first record counts, and later writers get the whole first record: amount %s',
      async (_name, most) => {
        const id = await account(0n);
        const first = record(id, { ...full, amountPicos: most() });
        expect(await store.putRecord(first)).toEqual({ kind: 'written' });
        const late = record(id, { outcome: 'released', amountPicos: 0n, reason: 'expired' });
        expect(await store.putRecord(late)).toEqual({ kind: 'exists', record: first });
        expect(await store.readRecord(id, HOLD)).toEqual(first);
      },
    );

    test('BILL-13 one of many concurrent writers is first, and all others get its record', async () => {
      const id = await account(0n);
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, index) => subject().store.putRecord(record(id, { at: AT + index }))),
      );
      const winners = replies.flatMap((reply, index) => (reply.kind === 'written' ? [index] : []));
      expect(winners).toHaveLength(1);
      const kept = await store.readRecord(id, HOLD);
      expect(kept?.at).toBe(AT + (winners[0] ?? -1));
      for (const reply of replies) if (reply.kind === 'exists') expect(reply.record).toEqual(kept);
    });

    test('BILL-15 a record with only the required fields is read without others', async () => {
      const id = await account(0n);
      const released = record(id, { outcome: 'released', amountPicos: 0n });
      await store.putRecord({ ...released, overage: false, implausible: false, usage: {} });
      expect(await store.readRecord(id, HOLD)).toEqual({ ...released, usage: {} });
      expect(await store.readRecord(id, `${REQUEST}.1`)).toBeUndefined();
    });
  });

  describe('apply', () => {
    test('BILL-3 a settled record releases the remainder and adds the charge', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const after = await store.apply(record(id), 40n, 0);
      expect(after).toEqual(await read(id));
      expect(await money(id)).toEqual([75n, 100n, 25n]);
      expect((await read(id)).holds.size).toBe(0);
    });

    test('BILL-2 a released record returns the whole hold', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      await store.apply(record(id, { outcome: 'released', amountPicos: 0n }), 40n, 0);
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('BILL-7 a charge above the hold can make the available amount negative', async () => {
      const id = await account(100n);
      await store.hold(order(id, { amountPicos: 100n }));
      await store.apply(record(id, { amountPicos: 150n, overage: true }), 100n, 0);
      expect(await money(id)).toEqual([-50n, 100n, 150n]);
    });

    test('BILL-13 apply without a hold, with another amount or a second time moves nothing', async () => {
      const id = await account(100n);
      expect(await store.apply(record(id), 40n, 0)).toBeUndefined();
      await store.hold(order(id));
      expect(await store.apply(record(id), 41n, 0)).toBeUndefined();
      expect(await store.apply(record(id), 40n, 0)).toBeDefined();
      expect(await store.apply(record(id), 40n, 0)).toBeUndefined();
      expect(await store.apply(record('unknown'), 40n, 0)).toBeUndefined();
      expect(await money(id)).toEqual([75n, 100n, 25n]);
    });

    test('BILL-13 one of many concurrent applies moves the money', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const replies = await Promise.all(Array.from({ length: 20 }, () => subject().store.apply(record(id), 40n, 0)));
      expect(replies.filter((reply) => reply !== undefined)).toHaveLength(1);
      expect(await money(id)).toEqual([75n, 100n, 25n]);
    });
  });

  describe('account and credit', () => {
    test('KEY-1 an account is created once and keeps its content', async () => {
      const id = await account(100n);
      expect(await store.createAccount(id, 0)).toBe('exists');
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('KEY-6 a reference credits once; a different amount is rejected with the first amount', async () => {
      const id = await account(100n);
      expect(await credit(id, 100n)).toEqual({ kind: 'repeated' });
      expect(await credit(id, 99n)).toMatchObject({
        kind: 'other-values',
        record: { ref: 'first', amountPicos: 100n },
      });
      expect(await credit(id, 5n, 'second')).toEqual({ kind: 'credited' });
      expect(await money(id)).toEqual([105n, 105n, 0n]);
    });

    test('KEY-6 a credit to a missing account leaves nothing behind', async () => {
      const id = 'late-account';
      expect(await credit(id, 5n)).toEqual({ kind: 'no-account' });
      await store.createAccount(id, 0);
      expect(await credit(id, 5n)).toEqual({ kind: 'credited' });
    });

    test('KEY-6 a blocked account can be credited', async () => {
      const id = await account(100n);
      await subject().block(id);
      expect(await credit(id, 5n, 'second')).toEqual({ kind: 'credited' });
      expect(await money(id)).toEqual([105n, 105n, 0n]);
    });

    test('KEY-6 concurrent credits with one reference are credited once', async () => {
      const id = await account(0n);
      const send = () =>
        subject().store.credit({ accountId: id, ref: 'same', amountPicos: 7n, reason: 'test', at: AT });
      const settled = await Promise.allSettled(Array.from({ length: 10 }, send));
      const kinds = settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.kind : 'refused'));
      expect(kinds.filter((kind) => kind === 'credited')).toHaveLength(1);
      expect(await money(id)).toEqual([7n, 7n, 0n]);
    });
  });

  describe('sweep list', () => {
    const isDue = async (id: string, nowMs: number) =>
      (await store.due(nowMs)).some(({ accountId }) => accountId === id);

    test('BILL-13 the first hold puts the account on the list, and the next keeps its time', async () => {
      const id = await account(100n);
      expect(await subject().sweepAtOf(id)).toBeUndefined();
      await store.hold(order(id));
      await store.hold(order(id, { holdId: 's.0', sweepAtMs: AT + 1 }));
      expect(await subject().sweepAtOf(id)).toBe(AT + 300_000);
      expect(await isDue(id, AT + 299_999)).toBe(false);
      expect(await isDue(id, AT + 300_000)).toBe(true);
    });

    test('BILL-13 a refused hold puts no account on the list', async () => {
      const id = await account(10n);
      await store.hold(order(id));
      expect(await subject().sweepAtOf(id)).toBeUndefined();
    });

    test('BILL-13 an account leaves the list only while no hold is open', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const before = await read(id);
      await store.reschedule(id, undefined, AT + 300_000);
      expect(await read(id)).toEqual(before);
      expect(await isDue(id, AT + 300_000)).toBe(true);
      await store.apply(record(id), 40n, 0);
      await store.reschedule(id, undefined, AT + 300_000);
      expect(await isDue(id, AT + 10 ** 9)).toBe(false);
      expect((await read(id)).version).toBe(before.version + 2);
    });

    test('BILL-13 a new time replaces the one that was due, and counts as a write', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const { version } = await read(id);
      await store.reschedule(id, AT + 600_000, AT + 300_000);
      expect([await isDue(id, AT + 599_999), await isDue(id, AT + 600_000)]).toEqual([false, true]);
      expect((await read(id)).version).toBe(version + 1);
    });

    test('BILL-13 a sweep keeps an earlier time that another write has set since its list', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const dueMs = AT + 300_000;
      await store.reschedule(id, AT + 900_000, dueMs);
      await store.sweepBy(id, AT + 315_000);
      const before = await read(id);
      await store.reschedule(id, AT + 900_000, dueMs);
      expect([await subject().sweepAtOf(id), await read(id)]).toEqual([AT + 315_000, before]);
      await store.reschedule(id, AT + 310_000, dueMs);
      expect(await subject().sweepAtOf(id)).toBe(AT + 310_000);
    });

    test('BILL-13 a sweep gives an account without a time its next one', async () => {
      const id = await account(100n);
      await store.reschedule(id, AT + 600_000, AT);
      expect(await subject().sweepAtOf(id)).toBe(AT + 600_000);
    });

    test('BILL-13 an earlier time replaces the time of the sweep, and a later one changes nothing', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const { version } = await read(id);
      await store.sweepBy(id, AT + 300_001);
      await store.sweepBy(id, AT + 300_000);
      expect([await subject().sweepAtOf(id), (await read(id)).version]).toEqual([AT + 300_000, version]);
      await store.sweepBy(id, AT + 15_000);
      expect([await isDue(id, AT + 14_999), await isDue(id, AT + 15_000)]).toEqual([false, true]);
      expect((await read(id)).version).toBe(version + 1);
    });

    test('BILL-13 an account without a sweep gets the time', async () => {
      const id = await account(100n);
      await store.sweepBy(id, AT + 15_000);
      expect(await subject().sweepAtOf(id)).toBe(AT + 15_000);
    });

    test('BILL-13 a missing account is not put on the list', async () => {
      await store.sweepBy('unknown', AT);
      await store.reschedule('unknown', AT, AT);
      await store.reschedule('unknown', undefined, AT);
      expect(await isDue('nobody', AT)).toBe(false);
      expect(await store.readAccount('nobody')).toBeUndefined();
    });

    test('BILL-13 a sweep later than any that is set now was set by a clock ahead, and is due', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const isDueBefore = async (latestMs?: number) =>
        (await store.due(AT, latestMs)).some(({ accountId }) => accountId === id);
      expect([await isDueBefore(), await isDueBefore(AT + 300_000), await isDueBefore(AT + 299_999)]).toEqual([
        false,
        false,
        true,
      ]);
      await store.reschedule(id, AT + 60_000, AT);
      expect([await subject().sweepAtOf(id), await isDueBefore(AT + 299_999)]).toEqual([AT + 60_000, false]);
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
