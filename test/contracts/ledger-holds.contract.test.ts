import { describe, expect, test } from 'vitest';
import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';
import { AT, HOLD, HUGE, ledgerScene, REQUEST } from './ledger-scene.ts';
import { expectBalanced, ledgerSubjects } from './ledger-subjects.ts';

describe.each(ledgerSubjects)('the ledger store $name', ({ open }) => {
  const { store, account, credit, order, record, read, money, subject } = ledgerScene(open);

  describe('hold', () => {
    test('BILL-1 a hold reduces the available amount, and its reply has the changed account', async () => {
      const id = await account(100n);
      const reply = await store.hold(order(id));
      expect(reply).toEqual({ kind: 'held', account: await read(id) });
      expect(await read(id)).toEqual({
        id,
        status: 'active',
        availablePicos: 60n,
        creditedPicos: 100n,
        returnedPicos: 0n,
        spentPicos: 0n,
        month: '2026-11',
        holds: new Map([[HOLD, { amountPicos: 40n, expiresAtMs: AT + 900_000 }]]),
        version: 2,
        caps: new Map(),
      });
    });

    test('BILL-1 the whole available amount can be held, and not one pico-USD more', async () => {
      const id = await account(100n);
      expect(await store.hold(order(id, { amountPicos: 101n }))).toEqual({ kind: 'refused', account: await read(id) });
      expect(await store.hold(order(id, { amountPicos: 100n }))).toMatchObject({ kind: 'held' });
      expect(await money(id)).toEqual([0n, 100n, 0n]);
    });

    test('AUTH-4 an account with a balance of 0 or less gets no hold, not even of 0', async () => {
      const id = await account(0n);
      expect(await store.hold(order(id, { amountPicos: 0n }))).toMatchObject({ kind: 'refused' });
      await credit(id, 10n);
      expect(await store.hold(order(id, { amountPicos: 0n }))).toMatchObject({ kind: 'held' });
    });

    test('BILL-7 a negative balance gets no hold, even with an available amount in an open hold', async () => {
      const id = await account(100n);
      await store.hold(order(id, { amountPicos: 60n }));
      await store.hold(order(id, { holdId: 's.0', amountPicos: 30n }));
      const overage = record(id, { amountPicos: 120n, overage: true });
      await store.apply(overage, 60n, 0);
      expect(await money(id)).toEqual([-50n, 100n, 120n]);
      expect(await store.hold(order(id, { holdId: 't.0', amountPicos: 0n }))).toMatchObject({ kind: 'refused' });
    });

    test('AUTH-4 a blocked account is refused and returned as blocked', async () => {
      const id = await account(100n);
      await subject().block(id);
      expect(await store.hold(order(id))).toMatchObject({ kind: 'refused', account: { status: 'blocked' } });
    });

    test('BILL-13 an id that is held is refused, and the open hold is returned', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const reply = await store.hold(order(id, { amountPicos: 10n }));
      expect(reply).toMatchObject({ kind: 'refused', account: { holds: new Map([[HOLD, { amountPicos: 40n }]]) } });
    });

    test('BILL-13 the next id is refused while the previous one is held', async () => {
      const id = await account(100n);
      await store.hold(order(id));
      const next = order(id, { holdId: `${REQUEST}.1`, previousHoldId: HOLD });
      const reply = await store.hold(next);
      expect(reply.kind === 'refused' && [...reply.account.holds.keys()]).toEqual([HOLD]);
      await store.apply(record(id), 40n, 0);
      expect(await store.hold(next)).toMatchObject({ kind: 'held' });
    });

    test('LIM-8 200 holds can be open, and the next is refused', async () => {
      const id = await account(1_000n);
      await subject().placeHolds(id, HOLDS_MAX - 1);
      expect(await store.hold(order(id, { holdId: 'last.0', amountPicos: 1n }))).toMatchObject({ kind: 'held' });
      const reply = await store.hold(order(id, { holdId: 'more.0', amountPicos: 1n }));
      expect(reply.kind === 'refused' && reply.account.holds.size).toBe(HOLDS_MAX);
      await store.apply(record(id, { holdId: 'last.0', amountPicos: 1n }), 1n, 0);
      expect(await store.hold(order(id, { holdId: 'more.0', amountPicos: 1n }))).toMatchObject({ kind: 'held' });
    });

    test('BILL-14 a missing account has its own reply and is not created', async () => {
      expect(await store.hold(order('nobody'))).toEqual({ kind: 'no-account' });
      expect(await store.readAccount('nobody')).toBeUndefined();
    });

    test('BILL-3 amounts beyond 2^53 stay exact', async () => {
      const id = await account(HUGE * 3n);
      await store.hold(order(id, { amountPicos: HUGE }));
      expect(await money(id)).toEqual([HUGE * 2n, HUGE * 3n, 0n]);
      await store.apply(record(id, { amountPicos: HUGE - 1n }), HUGE, 0);
      expect(await money(id)).toEqual([HUGE * 2n + 1n, HUGE * 3n, HUGE - 1n]);
    });

    test('BILL-3 the largest credit of the engine is held and charged exactly', async () => {
      const most = subject().creditMaxPicos;
      const id = await account(most);
      await store.hold(order(id, { amountPicos: most }));
      expect(await money(id)).toEqual([0n, most, 0n]);
      await store.apply(record(id, { amountPicos: most - 1n }), most, 0);
      expect(await money(id)).toEqual([1n, most, most - 1n]);
    });

    test('BILL-1 12 concurrent holds are placed as far as the money covers them', async () => {
      const id = await account(240n);
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, index) => subject().store.hold(order(id, { holdId: `r${index}.0` }))),
      );
      expect(replies.filter((reply) => reply.kind === 'held')).toHaveLength(6);
      const after = await read(id);
      expectBalanced(after);
      expect([after.availablePicos, after.holds.size, after.version]).toEqual([0n, 6, 7]);
    });
  });
});
