import { describe, expect, test } from 'vitest';
import { type CapCondition, conditionFor } from '../../lambdas/core/ledger/caps.ts';
import type { HoldRequest } from '../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { AT, HUGE, ledgerScene } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

const DAY_MS = 86_400_000;
const KEY = '0123456789abcdef';
const OTHER = 'fedcba9876543210';

/** Ids that the database packs, and ids that it stores as maps. */
const forms = [
  ['packed', (index: number) => `${renderRequestId({ atMs: AT, random: index })}.0`],
  ['in a map', (index: number) => `request-${index}.0`],
] as const;

describe.each(ledgerSubjects)('the caps of the ledger store $name', ({ open }) => {
  const { store, account, order, record, read, money, subject } = ledgerScene(open);

  const setCap = (id: string, limitPicos: bigint, kind: 'total' | 'day' | 'month' = 'day', keyId = KEY) =>
    subject().setCap(id, keyId, { limitPicos, kind }, AT);
  const capOf = async (id: string, keyId = KEY) => (await read(id)).caps.get(keyId);
  const periodOf = async (id: string, keyId = KEY): Promise<string> => (await capOf(id, keyId))?.period ?? '';
  const inCap = async (id: string, changes: Partial<HoldRequest> = {}): Promise<HoldRequest> =>
    order(id, { cap: { keyId: KEY, period: await periodOf(id) }, ...changes });
  const place = async (id: string, changes: Partial<HoldRequest> = {}) =>
    (await store.hold(await inCap(id, changes))).kind;
  /** Starts the next day of the cap with a hold. */
  const startNextDay = async (id: string, changes: Partial<HoldRequest> = {}) => {
    const ends = await periodOf(id);
    const period = ends.replace('2026-11-01', '2026-11-02');
    return store.hold(order(id, { cap: { keyId: KEY, period, ends }, ...changes }));
  };

  describe.each(forms)('with holds %s', (_form, idOf) => {
    test('KEY-9 a hold takes its amount from the cap, and counts in its period', async () => {
      const id = await account(100n);
      await setCap(id, 70n);
      const period = await periodOf(id);
      expect(period).toBe('2:2026-11-01');
      const reply = await store.hold(await inCap(id, { holdId: idOf(1) }));
      expect(reply).toEqual({ kind: 'held', account: await read(id) });
      const { caps, holds } = await read(id);
      expect(caps).toEqual(new Map([[KEY, { limitPicos: 70n, leftPicos: 30n, kind: 'day', period }]]));
      expect(holds.get(idOf(1))).toEqual({ amountPicos: 40n, expiresAtMs: AT + 900_000, cap: { keyId: KEY, period } });
    });

    test('KEY-9 the whole rest of a cap can be held, and not one pico-USD more', async () => {
      const id = await account(3n * HUGE);
      await setCap(id, HUGE, 'total');
      expect(await place(id, { holdId: idOf(1), amountPicos: HUGE + 1n })).toBe('refused');
      expect(await place(id, { holdId: idOf(1), amountPicos: HUGE - 1n })).toBe('held');
      expect(await place(id, { holdId: idOf(2), amountPicos: 2n })).toBe('refused');
      expect(await place(id, { holdId: idOf(2), amountPicos: 1n })).toBe('held');
      expect((await capOf(id))?.leftPicos).toBe(0n);
    });

    test.for([
      ['a charge', { amountPicos: 25n }, 75n, 15n],
      ['a charge above the hold', { amountPicos: 85n, overage: true }, 15n, -45n],
      ['a release', { outcome: 'released', amountPicos: 0n }, 100n, 40n],
    ] as const)('KEY-9 %s changes the cap with the account', async ([, changes, available, left]) => {
      const id = await account(100n);
      await setCap(id, 40n);
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      const after = await store.apply(record(id, { holdId: idOf(1), cap, ...changes }), 40n, AT);
      expect(after).toEqual(await read(id));
      expect([after?.availablePicos, after?.caps.get(KEY)?.leftPicos]).toEqual([available, left]);
    });

    test('KEY-9 a record without the cap of its hold changes the cap too, and once', async () => {
      const id = await account(100n);
      await setCap(id, 40n);
      await place(id, { holdId: idOf(1) });
      expect((await store.apply(record(id, { holdId: idOf(1) }), 40n, AT))?.caps.get(KEY)?.leftPicos).toBe(15n);
      expect(await store.apply(record(id, { holdId: idOf(1) }), 40n, AT)).toBeUndefined();
      expect((await capOf(id))?.leftPicos).toBe(15n);
    });

    test('KEY-9 a hold of another amount is not closed', async () => {
      const id = await account(100n);
      await setCap(id, 40n);
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      expect(await store.apply(record(id, { holdId: idOf(1), cap }), 41n, AT)).toBeUndefined();
    });

    test('KEY-9 the first hold of a period starts it from the limit', async () => {
      const id = await account(200n);
      await setCap(id, 70n);
      await place(id, { holdId: idOf(1) });
      const ends = await periodOf(id);
      expect(await startNextDay(id, { holdId: idOf(2), amountPicos: 71n })).toMatchObject({ kind: 'refused' });
      const reply = await startNextDay(id, { holdId: idOf(2), amountPicos: 60n });
      expect(reply).toEqual({ kind: 'held', account: await read(id) });
      const period = ends.replace('-01', '-02');
      const kept = new Map([['2026-11-01', 30n]]);
      expect(await capOf(id)).toEqual({ limitPicos: 70n, leftPicos: 10n, kind: 'day', period, kept });
      expect((await read(id)).holds.get(idOf(2))?.cap).toEqual({ keyId: KEY, period });
      // Another process had the same plan.
      const second = order(id, { holdId: idOf(3), amountPicos: 1n, cap: { keyId: KEY, period, ends } });
      expect(await store.hold(second)).toMatchObject({ kind: 'refused' });
      expect((await capOf(id))?.leftPicos).toBe(10n);
    });

    test.for([
      ['settled', 'settled'],
      ['charged late', 'settled'],
      ['released', 'released'],
    ] as const)('KEY-9 a hold of an earlier period that is %s changes only that period', async ([name, outcome]) => {
      const id = await account(200n);
      await setCap(id, 70n);
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      await startNextDay(id, { holdId: idOf(2) });
      const amountPicos = outcome === 'settled' ? 25n : 0n;
      const late = record(id, { holdId: idOf(1), outcome, amountPicos, cap });
      if (name === 'charged late') await subject().records.countTo(id, `${idOf(1)}!`);
      expect(await store.apply(late, 40n, AT + DAY_MS)).toMatchObject({ availablePicos: 160n - amountPicos });
      expect(await capOf(id)).toMatchObject({
        leftPicos: 30n,
        kept: new Map([['2026-11-01', 70n - amountPicos]]),
      });
    });

    test('KEY-9 a clock that is set back and forth continues each day with what was left of it', async () => {
      const id = await account(500n);
      await setCap(id, 70n);
      const [first, second, early] = ['2:2026-11-01', '2:2026-11-02', '2:2026-10-01'];
      const move = async (index: number, amountPicos: bigint, atMs: number) => {
        const cap = conditionFor(await read(id), KEY, atMs);
        const reply = await store.hold(order(id, { holdId: idOf(index), amountPicos, cap }));
        return [reply.kind, cap.period, (await capOf(id))?.leftPicos];
      };
      expect(await move(1, 40n, AT)).toEqual(['held', first, 30n]);
      expect(await move(2, 25n, AT + DAY_MS)).toEqual(['held', second, 45n]);
      expect(await move(3, 31n, AT)).toEqual(['refused', first, 45n]);
      expect(await move(3, 20n, AT)).toEqual(['held', first, 10n]);
      expect(await move(4, 46n, AT + DAY_MS)).toEqual(['refused', second, 10n]);
      expect(await move(4, 5n, AT + DAY_MS)).toEqual(['held', second, 40n]);
      await store.apply(record(id, { holdId: idOf(3), amountPicos: 5n, cap: { keyId: KEY, period: first } }), 20n, AT);
      expect((await capOf(id))?.kept).toEqual(new Map([['2026-11-01', 25n]]));
      // No hold of the second day is charged yet, so the earlier day starts with the whole limit.
      expect(await move(5, 71n, AT - 31 * DAY_MS)).toEqual(['refused', early, 40n]);
      expect(await move(5, 70n, AT - 31 * DAY_MS)).toEqual(['held', early, 0n]);
      expect(await move(6, 1n, AT + DAY_MS)).toEqual(['held', second, 39n]);
    });

    test('KEY-9 an earlier day takes over the charges of a day ahead, whose holds end there', async () => {
      const id = await account(500n);
      await setCap(id, 70n);
      const ahead = { keyId: KEY, period: '2:2026-12-11', ends: '2:2026-11-01' };
      await store.hold(order(id, { holdId: idOf(1), amountPicos: 20n, cap: ahead }));
      await store.hold(order(id, { holdId: idOf(2), amountPicos: 30n, cap: { keyId: KEY, period: ahead.period } }));
      const charge = { amountPicos: 15n, cap: { keyId: KEY, period: ahead.period } };
      await store.apply(record(id, { holdId: idOf(1), ...charge }), 20n, AT);
      const back = conditionFor(await read(id), KEY, AT + DAY_MS);
      expect(back).toMatchObject({ period: '2:2026-11-02', start: { leftPicos: 55n, seenPicos: 25n } });
      await store.apply(record(id, { holdId: idOf(2), ...charge }), 30n, AT);
      const stale = order(id, { holdId: idOf(3), amountPicos: 10n, cap: back });
      expect(await store.hold(stale)).toMatchObject({ kind: 'refused' });
      const cap = conditionFor(await read(id), KEY, AT + DAY_MS);
      const place = (amountPicos: bigint) => store.hold(order(id, { holdId: idOf(4), amountPicos, cap }));
      expect(await place(41n)).toMatchObject({ kind: 'refused' });
      const reply = await place(40n);
      expect(reply).toEqual({ kind: 'held', account: await read(id) });
      expect(await capOf(id)).toMatchObject({
        leftPicos: 0n,
        period: '2:2026-11-02',
        kept: new Map([
          ['2026-11-01', 70n],
          ['2026-12-11', 40n],
        ]),
      });
    });

    test('KEY-9 a hold of a replaced cap changes no day of the new one', async () => {
      const id = await account(500n);
      await setCap(id, 70n);
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      await subject().setCap(id, KEY, undefined, AT);
      await setCap(id, 60n);
      await startNextDay(id, { holdId: idOf(2), amountPicos: 1n });
      const kept = new Map([['2026-11-01', 60n]]);
      expect((await capOf(id))?.kept).toEqual(kept);
      await store.apply(record(id, { holdId: idOf(1), cap, amountPicos: 1n }), 40n, AT);
      expect((await capOf(id))?.kept).toEqual(kept);
    });

    test.for([
      ['removed', [undefined], undefined],
      ['removed and set again', [undefined, { limitPicos: 70n, kind: 'day' }], 70n],
      ['of another kind', [{ limitPicos: 60n, kind: 'month' }], 60n],
      ['that got another limit', [{ limitPicos: 90n, kind: 'day' }], 75n],
    ] as const)('KEY-9 a charge after a cap was %s', async ([, changes, left]) => {
      const id = await account(200n);
      await setCap(id, 80n);
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      for (const change of changes) await subject().setCap(id, KEY, change, AT);
      const after = await store.apply(record(id, { holdId: idOf(1), amountPicos: 15n, cap }), 40n, AT);
      expect([after?.availablePicos, after?.caps.get(KEY)?.leftPicos]).toEqual([185n, left]);
      expect(after).toEqual(await read(id));
    });

    test('KEY-9 and BILL-22 a hold of a cap that is closed in a later month', async () => {
      const id = await account(100n);
      await setCap(id, 40n, 'total');
      await place(id, { holdId: idOf(1) });
      const cap = { keyId: KEY, period: await periodOf(id) };
      const after = await store.apply(record(id, { holdId: idOf(1), cap }), 40n, AT + 40 * DAY_MS);
      expect([after?.month, after?.caps.get(KEY)?.leftPicos]).toEqual(['2026-12', 15n]);
      expect(after).toEqual(await read(id));
      await place(id, { holdId: idOf(2), amountPicos: 10n });
      await store.apply(record(id, { holdId: idOf(2), amountPicos: 10n, cap }), 10n, AT + 40 * DAY_MS);
      expect((await capOf(id))?.leftPicos).toBe(5n);
    });

    test('KEY-9 and BILL-21 a release of a cap that uses the allowance changes both', async () => {
      const id = await account(100n);
      await setCap(id, 80n);
      const cap = { keyId: KEY, period: await periodOf(id) };
      for (const index of [1, 2]) {
        await place(id, { holdId: idOf(index) });
        const use = { outcome: 'released', amountPicos: 0n, uncollectedPicos: 7n, usesAllowance: true } as const;
        const after = await store.apply(record(id, { holdId: idOf(index), cap, ...use }), 40n, AT);
        expect([after?.caps.get(KEY)?.leftPicos, after?.uncollected?.picos]).toEqual([80n, 7n * BigInt(index)]);
      }
    });

    test('KEY-9 and BILL-13 the next id is refused while the previous one is held', async () => {
      const id = await account(100n);
      await setCap(id, 80n);
      const [first, next] = [idOf(1), idOf(1).replace(/0$/, '1')];
      await place(id, { holdId: first });
      const again = await inCap(id, { holdId: next, previousHoldId: first });
      expect(await store.hold(again)).toMatchObject({ kind: 'refused' });
      const withoutCap = { ...again, cap: { keyId: OTHER, period: undefined } };
      expect(await store.hold(withoutCap)).toMatchObject({ kind: 'refused' });
      expect([...(await read(id)).holds.keys()]).toEqual([first]);
    });

    test('KEY-9 ten concurrent holds on a cap for seven place exactly seven', async () => {
      const id = await account(1_000n);
      await setCap(id, 70n);
      const cap: CapCondition = { keyId: KEY, period: await periodOf(id) };
      const { store: open } = subject();
      const orders = Array.from({ length: 10 }, (_, index) =>
        order(id, { holdId: idOf(index), amountPicos: 10n, cap }),
      );
      const replies = await Promise.all(orders.map((one) => open.hold(one)));
      expect(replies.filter(({ kind }) => kind === 'held')).toHaveLength(7);
      expect(await money(id)).toEqual([930n, 1_000n, 0n]);
      expect((await capOf(id))?.leftPicos).toBe(0n);
    });

    test('KEY-9 concurrent holds that start a period start it once', async () => {
      const id = await account(1_000n);
      await setCap(id, 70n);
      const ends = await periodOf(id);
      const cap = { keyId: KEY, period: ends.replace('-01', '-02'), ends };
      const { store: open } = subject();
      const orders = Array.from({ length: 5 }, (_, index) => order(id, { holdId: idOf(index), amountPicos: 10n, cap }));
      const replies = await Promise.all(orders.map((one) => open.hold(one)));
      expect(replies.filter(({ kind }) => kind === 'held')).toHaveLength(1);
      expect((await capOf(id))?.leftPicos).toBe(60n);
    });
  });

  test('KEY-9 holds of a day that is over are closed concurrently, and no write excludes another', async () => {
    const id = await account(1_000n);
    await setCap(id, 900n);
    const cap = { keyId: KEY, period: await periodOf(id) };
    const holdIds = Array.from({ length: 20 }, (_, index) => `${renderRequestId({ atMs: AT, random: 100 + index })}.0`);
    for (const holdId of holdIds) await place(id, { holdId });
    await startNextDay(id);
    const { store: open } = subject();
    const closed = holdIds.map((holdId) => open.apply(record(id, { holdId, cap }), 40n, AT + DAY_MS));
    expect((await Promise.all(closed)).every((after) => after !== undefined)).toBe(true);
    const after = await read(id);
    expect([after.holds.size, after.spentPicos, after.caps.get(KEY)?.leftPicos]).toEqual([1, 500n, 860n]);
  });

  test('KEY-9 a hold needs the present period of its cap', async () => {
    const id = await account(100n);
    await setCap(id, 70n);
    const period = await periodOf(id);
    for (const other of ['1:2026-11-01', '2:2026-10-31', '2:2026-11-02', '2:2026-11', '2:total'])
      expect(await store.hold(order(id, { cap: { keyId: KEY, period: other } }))).toMatchObject({ kind: 'refused' });
    for (const ends of ['1:2026-11-01', '2:2026-10-31', '2:2026-11-02']) {
      const cap = { keyId: KEY, period: '2:2026-11-03', ends };
      expect(await store.hold(order(id, { cap }))).toMatchObject({ kind: 'refused' });
    }
    expect(await store.hold(order(id, { cap: { keyId: OTHER, period } }))).toMatchObject({ kind: 'refused' });
    expect(await store.hold(order(id, { cap: { keyId: KEY, period } }))).toMatchObject({ kind: 'held' });
  });

  test('KEY-9 a cap does not lift the balance', async () => {
    const id = await account(30n);
    await setCap(id, 70n);
    expect(await place(id)).toBe('refused');
    expect((await capOf(id))?.leftPicos).toBe(70n);
  });

  test('KEY-9 a hold that expects no cap is refused if the API key has one', async () => {
    const id = await account(100n);
    const without = { keyId: KEY, period: undefined };
    await setCap(id, 70n);
    expect(await store.hold(order(id, { cap: without }))).toMatchObject({ kind: 'refused' });
    expect(await store.hold(order(id, { cap: { keyId: OTHER, period: undefined } }))).toMatchObject({ kind: 'held' });
    expect((await read(id)).holds.get(order(id).holdId)).toEqual({ amountPicos: 40n, expiresAtMs: AT + 900_000 });
    await subject().setCap(id, KEY, undefined, AT);
    expect(await store.hold(order(id, { holdId: 's.0', cap: without }))).toMatchObject({ kind: 'held' });
  });

  test('KEY-9 a hold of an API key without a cap changes no cap', async () => {
    const id = await account(100n);
    await setCap(id, 70n);
    expect(await store.hold(order(id))).toMatchObject({ kind: 'held' });
    await store.apply(record(id), 40n, AT);
    expect((await capOf(id))?.leftPicos).toBe(70n);
  });

  test('KEY-9 each API key has its own cap, and changes of one leave the others', async () => {
    const id = await account(100n);
    await setCap(id, 70n);
    await setCap(id, 50n, 'month', OTHER);
    await place(id);
    expect([(await capOf(id))?.leftPicos, (await capOf(id, OTHER))?.leftPicos]).toEqual([30n, 50n]);
    await setCap(id, 60n);
    expect(await capOf(id)).toMatchObject({ limitPicos: 60n, leftPicos: 20n, period: '2:2026-11-01' });
    await subject().setCap(id, KEY, undefined, AT);
    expect((await read(id)).caps).toEqual(
      new Map([[OTHER, { limitPicos: 50n, leftPicos: 50n, kind: 'month', period: '3:2026-11' }]]),
    );
    await subject().setCap(id, OTHER, undefined, AT);
    expect((await read(id)).caps).toEqual(new Map());
  });

  test('KEY-9 a record keeps the cap of its hold', async () => {
    const id = await account(100n);
    const own = record(id, { cap: { keyId: KEY, period: '2:2026-11-01' } });
    await store.putRecord(own);
    expect(await store.readRecord(id, own.holdId)).toEqual(own);
    expect((await subject().records.listRecords(id, { limit: 1 })).records).toEqual([own]);
  });
});
