import { describe, expect, test } from 'vitest';
import { accountIds, type RecordRange } from '../../lambdas/core/ledger/records.ts';
import { AT, ledgerScene } from './ledger-scene.ts';
import { ledgerSubjects } from './ledger-subjects.ts';

describe.each(ledgerSubjects)('the records of the ledger $name', ({ open }) => {
  const { store, account, credit, order, record, subject } = ledgerScene(open);

  const requestOf = (number: number): string => `r${String(number).padStart(4, '0')}`;
  const write = async (accountId: string, ...holdIds: readonly string[]): Promise<void> => {
    for (const holdId of holdIds) {
      await store.putRecord(record(accountId, { holdId, requestId: holdId.slice(0, holdId.lastIndexOf('.')) }));
    }
  };
  const list = async (accountId: string, range: RecordRange) => {
    const { records, more } = await subject().records.listRecords(accountId, range);
    return [records.map(({ holdId }) => holdId), more] as const;
  };

  test('BILL-15 records are listed newest first, with a flag for more', async () => {
    const id = await account(0n);
    await write(id, 'b.0', 'a.0', 'c.1', 'c.0');
    expect(await list(id, { limit: 3 })).toEqual([['c.1', 'c.0', 'b.0'], true]);
    expect(await list(id, { limit: 4 })).toEqual([['c.1', 'c.0', 'b.0', 'a.0'], false]);
    expect(await list(id, { limit: 9 })).toEqual([['c.1', 'c.0', 'b.0', 'a.0'], false]);
    expect(await list(await account(0n), { limit: 1 })).toEqual([[], false]);
  });

  test('BILL-15 a range begins with its first id and ends before its last', async () => {
    const id = await account(0n);
    await write(id, 'a.0', 'b.0', 'c.0', 'd.0');
    expect(await list(id, { fromHoldId: 'b.0', limit: 9 })).toEqual([['d.0', 'c.0', 'b.0'], false]);
    expect(await list(id, { beforeHoldId: 'c.0', limit: 9 })).toEqual([['b.0', 'a.0'], false]);
    expect(await list(id, { fromHoldId: 'b', beforeHoldId: 'd', limit: 9 })).toEqual([['c.0', 'b.0'], false]);
    expect(await list(id, { beforeHoldId: 'c.0', limit: 1 })).toEqual([['b.0'], true]);
    expect(await list(id, { beforeHoldId: 'b.0', limit: 1 })).toEqual([['a.0'], false]);
    expect(await list(id, { beforeHoldId: 'bb', limit: 1 })).toEqual([['b.0'], true]);
    expect(await list(id, { fromHoldId: 'd', beforeHoldId: 'b', limit: 9 })).toEqual([[], false]);
    expect(await list(id, { fromHoldId: 'b.0', beforeHoldId: 'b.0', limit: 9 })).toEqual([[], false]);
  });

  test('BILL-23 a range is also listed oldest first', async () => {
    const id = await account(0n);
    await write(id, 'a.0', 'b.0', 'c.1', 'c.0', 'd.0');
    const oldestFirst = (range: { fromHoldId?: string; beforeHoldId?: string; limit: number }) =>
      list(id, { ...range, isOldestFirst: true });
    expect(await oldestFirst({ limit: 3 })).toEqual([['a.0', 'b.0', 'c.0'], true]);
    expect(await oldestFirst({ fromHoldId: 'c', limit: 3 })).toEqual([['c.0', 'c.1', 'd.0'], false]);
    expect(await oldestFirst({ fromHoldId: 'b.0', beforeHoldId: 'c.1', limit: 2 })).toEqual([['b.0', 'c.0'], false]);
    expect(await oldestFirst({ fromHoldId: 'b.0', beforeHoldId: 'd', limit: 1 })).toEqual([['b.0'], true]);
  });

  test('BILL-15 an account sees neither the records nor the credits of another', async () => {
    const [one, other] = [await account(5n), await account(7n)];
    await write(one, 'a.0');
    expect(await list(other, { limit: 9 })).toEqual([[], false]);
    expect(await subject().records.recordsOfRequest(other, 'a')).toEqual([]);
    expect(await subject().records.readCredits(other)).toEqual([
      { ref: 'first', type: 'credit', amountPicos: 7n, reason: 'test', at: AT, month: '2026-11' },
    ]);
  });

  test('BILL-15 the records of one request are returned whole, without others', async () => {
    const id = await account(0n);
    await write(id, 'a.0', 'a.1', 'ab.0', 'b.0');
    const found = await subject().records.recordsOfRequest(id, 'a');
    expect(found.map(({ holdId }) => holdId).toSorted()).toEqual(['a.0', 'a.1']);
    expect(found).toContainEqual(record(id, { holdId: 'a.0', requestId: 'a' }));
    expect(await subject().records.recordsOfRequest(id, 'c')).toEqual([]);
  });

  test('OPS-5 a list larger than one page of the store is read completely', async () => {
    const id = await account(0n);
    // 1.5 MB, where a page of the store has 1 MB at most.
    const long = 'x'.repeat(300_000);
    const holdIds = Array.from({ length: 5 }, (_, index) => `${requestOf(index)}.0`);
    await Promise.all(
      holdIds.map((holdId) => store.putRecord(record(id, { holdId, requestId: holdId.slice(0, -2), endUser: long }))),
    );
    expect(await list(id, { limit: 5 })).toEqual([holdIds.toReversed(), false]);
    expect(await list(id, { limit: 4 })).toEqual([holdIds.slice(1).toReversed(), true]);
  });

  test('OPS-5 every credit is listed with reference, amount, reason and time, holds and charges are not', async () => {
    const id = await account(100n);
    await credit(id, 5n, 'second');
    await store.hold(order(id));
    await store.putRecord(record(id));
    const credits = await subject().records.readCredits(id);
    expect(credits.toSorted((one, other) => (one.ref < other.ref ? -1 : 1))).toEqual([
      { ref: 'first', type: 'credit', amountPicos: 100n, reason: 'test', at: AT, month: '2026-11' },
      { ref: 'second', type: 'credit', amountPicos: 5n, reason: 'test', at: AT, month: '2026-11' },
    ]);
  });

  test('OPS-5 every account is found once, with or without records', async () => {
    const ids = [await account(0n), await account(3n)];
    await write(ids[1] ?? '', 'a.0', 'b.0');
    const found = await Array.fromAsync(accountIds(subject().records));
    expect(found.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
    expect(new Set(found).size).toBe(found.length);
  });

  test('OPS-3 a list that continues after any position finds all later entries', async () => {
    for (const id of [await account(0n), await account(0n), await account(0n)]) await write(id, 'a.0', 'b.0');
    const { records } = subject();
    const found = await Array.fromAsync(records.accountPlaces());
    for (const [index, { place }] of found.entries())
      expect(await Array.fromAsync(records.accountPlaces(place))).toEqual(found.slice(index + 1));
  });
});
