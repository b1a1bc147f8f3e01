import { describe, expect, test } from 'vitest';
import type { ChargeRecord, HoldRequest } from '../../lambdas/core/ledger/ledger.ts';
import { apply } from '../../lambdas/core/ledger/resolve.ts';
import { firstIdAt, renderRequestId } from '../../lambdas/core/request-id.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { withFaults } from '../support/memory/faults.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { AT, HUGE, ledgerScene } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

const DAY_MS = 86_400_000;
const TODAY = '2026-11-01';
const TOMORROW = '2026-11-02';

/** Ids that the database packs, and ids that it stores as maps. */
const forms = [
  ['packed', (index: number, atMs = AT) => `${renderRequestId({ atMs, random: index })}.0`],
  ['in a map', (index: number, atMs = AT) => `${firstIdAt(atMs)}-${index}.0`],
] as const;

describe.each(ledgerSubjects)('the allowance of the ledger store $name', ({ open }) => {
  const { store, account, order, record, read, money, subject } = ledgerScene(open);

  const released = (id: string, holdId: string, changes: Partial<ChargeRecord> = {}): ChargeRecord =>
    record(id, {
      holdId,
      outcome: 'released',
      amountPicos: 0n,
      uncollectedPicos: 7n,
      usesAllowance: true,
      ...changes,
    });
  const counterOf = async (id: string) => (await read(id)).uncollected;
  /** Places a hold and closes it at this time. */
  const close = async (id: string, holdId: string, atMs: number, changes: Partial<ChargeRecord> = {}) => {
    await store.hold(order(id, { holdId }));
    return store.apply(released(id, holdId, changes), 40n, atMs);
  };

  describe.each(forms)('with holds %s', (_form, idOf) => {
    test('BILL-21 the first amount of an account starts the counter', async () => {
      const id = await account(100n);
      expect(await counterOf(id)).toBeUndefined();
      expect((await close(id, idOf(1), AT))?.uncollected).toEqual({ day: TODAY, picos: 7n });
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 7n });
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('BILL-21 later amounts of the day are added', async () => {
      const id = await account(100n);
      await close(id, idOf(1), AT);
      expect((await close(id, idOf(2), AT + DAY_MS - 1))?.uncollected).toEqual({ day: TODAY, picos: 14n });
      await close(id, idOf(3), AT, { uncollectedPicos: HUGE });
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 14n + HUGE });
      expect(await money(id)).toEqual([100n, 100n, 0n]);
    });

    test('BILL-21 a new day starts from 0', async () => {
      const id = await account(100n);
      await close(id, idOf(1), AT);
      await close(id, idOf(2), AT + DAY_MS, { uncollectedPicos: 3n });
      expect(await counterOf(id)).toEqual({ day: TOMORROW, picos: 3n, other: { day: TODAY, picos: 7n } });
    });

    test('BILL-21 a write by a clock of the day before returns the counter to that day', async () => {
      const id = await account(100n);
      await close(id, idOf(1), AT + DAY_MS);
      await close(id, idOf(2), AT + DAY_MS - 1, { uncollectedPicos: 3n });
      const other = { day: TOMORROW, picos: 7n };
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 10n, other });
      await close(id, idOf(3), AT, { uncollectedPicos: 1n });
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 11n, other });
      await close(id, idOf(4), AT + DAY_MS, { uncollectedPicos: 2n });
      expect(await counterOf(id)).toEqual({ day: TOMORROW, picos: 9n, other: { day: TODAY, picos: 11n } });
    });

    const quiet = { usesAllowance: false, silentDeadline: true, allowancePicos: 1_000n };

    test('BILL-21 the third deadline without content of a day uses the allowance', async () => {
      const id = await account(1_000n);
      for (const [index, picos] of [7n, 14n, 21n, 28n].entries()) {
        await close(id, idOf(index + 1, AT + index), AT + index, quiet);
        // The time of a further group decides nothing.
        expect(await counterOf(id)).toMatchObject({ day: TODAY, picos, ...(index < 3 && { silentAtMs: AT + index }) });
      }
      await close(id, idOf(9), AT + 4);
      expect(await counterOf(id)).toMatchObject({ day: TODAY, picos: 35n, freePicos: 14n });
      await close(id, idOf(10), AT + DAY_MS, quiet);
      expect(await counterOf(id)).toEqual({
        day: TOMORROW,
        picos: 7n,
        silentDeadlines: 1,
        silentAtMs: AT + DAY_MS,
        freePicos: 7n,
        other: { day: TODAY, picos: 35n },
      });
      await close(id, idOf(11), AT + 2 * DAY_MS);
      expect(await counterOf(id)).not.toHaveProperty('silentDeadlines');
    });

    test('BILL-21 calls that hang together count as one deadline without content', async () => {
      const id = await account(10_000n);
      const calls = Array.from({ length: 20 }, (_, index) => idOf(index + 1));
      for (const holdId of calls) await store.hold(order(id, { holdId }));
      const deps = {
        store: subject().store,
        outbox: new MemoryOutbox(),
        clock: { ...systemClock, now: () => AT + 1 },
        random: Math.random,
        shortestLifetimeMs: 1,
      };
      await Promise.all(calls.map((holdId) => apply(deps, released(id, holdId, quiet), 40n)));
      expect(await counterOf(id)).toMatchObject({ day: TODAY, picos: 140n, silentDeadlines: 1, freePicos: 140n });
      expect((await read(id)).holds.size).toBe(0);
      await close(id, idOf(21, AT + 60_000), AT + 60_000, quiet);
      expect(await counterOf(id)).toMatchObject({ picos: 147n, silentDeadlines: 2, freePicos: 147n });
      await close(id, idOf(22, AT + 60_001), AT + 60_002, quiet);
      expect(await counterOf(id)).toMatchObject({ picos: 154n, freePicos: 147n });
    });

    test('BILL-21 an amount above the allowance starts a probation, and the next one prolongs it', async () => {
      const id = await account(1_000n);
      const untilOf = async () => (await read(id)).probationUntilPicos;
      await close(id, idOf(1), AT, { allowancePicos: 14n });
      await close(id, idOf(2), AT, { allowancePicos: 14n });
      expect(await untilOf()).toBeUndefined();
      await close(id, idOf(3), AT, { allowancePicos: 14n });
      expect(await untilOf()).toBe(210n);
      expect((await close(id, idOf(4), AT, { allowancePicos: 14n }))?.probationUntilPicos).toBe(280n);
      await close(id, idOf(5), AT + DAY_MS, { allowancePicos: 14n });
      expect(await untilOf()).toBe(350n);
      await close(id, idOf(6), AT, { usesAllowance: false });
      expect(await untilOf()).toBe(350n);
      await store.hold(order(id, { holdId: idOf(7), amountPicos: 400n }));
      await store.apply(record(id, { holdId: idOf(7), amountPicos: 350n }), 400n, AT + DAY_MS);
      await close(id, idOf(8), AT + DAY_MS, { allowancePicos: 14n });
      expect(await untilOf()).toBe(350n);
      await close(id, idOf(9), AT + DAY_MS, { allowancePicos: 14n });
      expect(await untilOf()).toBe(350n + 10n * 21n);
      expect(await money(id)).toEqual([650n, 1_000n, 350n]);
    });

    test('BILL-21 a repeated write counts once, on the first day and on the next', async () => {
      const id = await account(100n);
      await close(id, idOf(1), AT);
      expect(await store.apply(released(id, idOf(1)), 40n, AT)).toBeUndefined();
      expect(await store.apply(released(id, idOf(1)), 40n, AT + DAY_MS)).toBeUndefined();
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 7n });
    });

    test("BILL-21 charges, plain releases and a provider's failures do not change the counter", async () => {
      const id = await account(100n);
      await close(id, idOf(1), AT, { usesAllowance: false });
      await close(id, idOf(2), AT, { uncollectedPicos: 0n, usesAllowance: false });
      await store.hold(order(id, { holdId: idOf(3) }));
      await store.apply(record(id, { holdId: idOf(3) }), 40n, AT);
      expect(await counterOf(id)).toBeUndefined();
      await close(id, idOf(4), AT);
      await close(id, idOf(5), AT + DAY_MS, { usesAllowance: false });
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 7n });
    });

    test('BILL-21 a hold of another amount or that is missing counts nothing', async () => {
      const id = await account(100n);
      await store.hold(order(id, { holdId: idOf(1) }));
      expect(await store.apply(released(id, idOf(1)), 41n, AT)).toBeUndefined();
      expect(await store.apply(released(id, idOf(2)), 40n, AT)).toBeUndefined();
      expect(await counterOf(id)).toBeUndefined();
    });

    test.each([0, DAY_MS])(
      'BILL-21 processes that close holds concurrently count each once: %i ms later',
      async (later) => {
        const id = await account(1_000n);
        await close(id, idOf(1), AT);
        const ids = Array.from({ length: 5 }, (_, index) => idOf(index + 2));
        for (const holdId of ids) await store.hold(order(id, { holdId }));
        const clock = { ...systemClock, now: () => AT + later };
        const deps = {
          store: subject().store,
          outbox: new MemoryOutbox(),
          clock,
          random: Math.random,
          shortestLifetimeMs: 1,
        };
        // Two processes for each hold. Every repeat is that of the ledger.
        const closed = await Promise.all([...ids, ...ids].map((holdId) => apply(deps, released(id, holdId), 40n)));
        expect(closed.filter((after) => after !== undefined)).toHaveLength(5);
        const sum = later === 0 ? { day: TODAY, picos: 42n } : { day: TOMORROW, picos: 35n };
        expect(await counterOf(id)).toMatchObject(sum);
        expect(await money(id)).toEqual([1_000n, 1_000n, 0n]);
      },
    );

    test.each([0, DAY_MS])('BILL-21 a write whose reply is lost counts once: %i ms later', async (later) => {
      const id = await account(100n);
      await close(id, idOf(1), AT);
      await store.hold(order(id, { holdId: idOf(2) }));
      const deps = {
        store: withFaults(subject().store, { apply: [{ kind: 'loses-reply' }] }),
        outbox: new MemoryOutbox(),
        clock: { ...systemClock, now: () => AT + later },
        random: () => 0,
        shortestLifetimeMs: 1,
      };
      expect(await apply(deps, released(id, idOf(2)), 40n)).toBeUndefined();
      expect((await counterOf(id))?.picos).toBe(later === 0 ? 14n : 7n);
    });
  });

  describe('hold', () => {
    const idOf = (index: number) => `${renderRequestId({ atMs: AT, random: index })}.0`;
    const tryHold = (id: string, index: number, allowance: HoldRequest['allowance']) =>
      store.hold(order(id, { holdId: idOf(index), ...(allowance && { allowance }) }));

    const small = (day: string, picos: bigint) => ({ day, picos, isLarge: false });

    test('BILL-21 a hold needs an amount below ten allowances of the day', async () => {
      const id = await account(1_000n);
      expect(await tryHold(id, 1, small(TODAY, 0n))).toMatchObject({ kind: 'held' });
      await close(id, idOf(2), AT, { uncollectedPicos: 70n });
      expect(await tryHold(id, 3, small(TODAY, 8n))).toMatchObject({
        kind: 'held',
        account: { uncollected: { day: TODAY, picos: 70n } },
      });
      expect(await tryHold(id, 4, small(TODAY, 7n))).toEqual({ kind: 'refused', account: await read(id) });
      expect((await read(id)).uncollected).toEqual({ day: TODAY, picos: 70n });
      expect(await tryHold(id, 5, small(TODAY, 0n))).toMatchObject({ kind: 'refused' });
      expect(await tryHold(id, 6, small(TOMORROW, 0n))).toMatchObject({ kind: 'held' });
    });

    test('BILL-21 amounts of a later day, and of this day before it, count for a hold', async () => {
      const id = await account(1_000n);
      await close(id, idOf(1), AT + DAY_MS, { uncollectedPicos: 70n });
      expect(await tryHold(id, 2, small(TODAY, 7n))).toMatchObject({ kind: 'refused' });
      expect(await tryHold(id, 3, small(TODAY, 8n))).toMatchObject({ kind: 'held' });
      await close(id, idOf(4), AT, { uncollectedPicos: 20n });
      await close(id, idOf(5), AT + DAY_MS, { uncollectedPicos: 1n });
      expect(await tryHold(id, 6, small(TODAY, 9n))).toMatchObject({ kind: 'refused' });
      expect(await tryHold(id, 7, small(TODAY, 10n))).toMatchObject({ kind: 'held' });
      await close(id, idOf(8), AT + DAY_MS, { uncollectedPicos: 200n });
      expect(await tryHold(id, 9, small(TODAY, 10n))).toMatchObject({ kind: 'held' });
      expect(await tryHold(id, 10, small(TOMORROW, 10n))).toMatchObject({ kind: 'refused' });
    });

    test('BILL-21 an account on probation gets a large hold only without an open one', async () => {
      const id = await account(1_000n);
      const large = { day: TOMORROW, picos: 100n, isLarge: true };
      await close(id, idOf(1), AT, { allowancePicos: 1n });
      expect((await read(id)).probationUntilPicos).toBe(70n);
      expect(await tryHold(id, 2, large)).toMatchObject({ kind: 'held' });
      expect(await tryHold(id, 3, large)).toEqual({ kind: 'refused', account: await read(id) });
      expect(await tryHold(id, 4, { ...large, isLarge: false })).toMatchObject({ kind: 'held' });
      expect(await tryHold(id, 5, large)).toMatchObject({ kind: 'refused' });
      await store.hold(order(id, { holdId: idOf(6), amountPicos: 80n }));
      await store.apply(record(id, { holdId: idOf(6), amountPicos: 70n }), 80n, AT);
      expect(await tryHold(id, 7, large)).toMatchObject({ kind: 'held' });
    });

    test('BILL-21 the months of an account close with a counter that is not of a later day', async () => {
      const id = await account(1_000n);
      await close(id, idOf(1), AT + DAY_MS);
      const other = { day: TOMORROW, picos: 7n };
      expect((await store.closeMonths(id, AT))?.uncollected).toEqual({ day: TODAY, picos: 7n, other });
      expect(await counterOf(id)).toEqual({ day: TODAY, picos: 7n, other });
    });

    test('BILL-21 a hold without an allowance does not depend on the counter', async () => {
      const id = await account(1_000n);
      await close(id, idOf(1), AT);
      expect(await tryHold(id, 2, undefined)).toMatchObject({ kind: 'held' });
    });
  });

  test('BILL-21 an operator clears the uncollected amounts and ends the probation', async () => {
    const id = await account(1_000n);
    await close(id, 'request-1.0', AT, { allowancePicos: 1n });
    await close(id, 'request-2.0', AT + DAY_MS, { silentDeadline: true, usesAllowance: false });
    const before = await read(id);
    expect(before).toMatchObject({ probationUntilPicos: 70n, uncollected: { silentDeadlines: 1 } });
    expect(await store.clearUncollected(id)).toBe(true);
    const { uncollected: _amounts, probationUntilPicos: _until, ...rest } = before;
    expect(await read(id)).toEqual({ ...rest, version: before.version + 1 });
    expect(await store.clearUncollected('unknown')).toBe(false);
  });

  test('BILL-21 the amount and its use of the allowance are stored with the record', async () => {
    const id = await account(0n);
    const first = released(id, 'request-1.0', {
      uncollectedPicos: HUGE,
      allowancePicos: HUGE + 1n,
      silentDeadline: true,
    });
    await store.putRecord(first);
    expect(await store.readRecord(id, 'request-1.0')).toEqual(first);
    const { usesAllowance: _uses, ...counted } = released(id, 'request-2.0');
    await store.putRecord({ ...counted, usesAllowance: false });
    expect(await store.readRecord(id, 'request-2.0')).toEqual(counted);
  });
});
