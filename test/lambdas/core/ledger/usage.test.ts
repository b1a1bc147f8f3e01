import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { listUsage, type UsageFilter, type UsageRange, usageOfRequest } from '../../../../lambdas/core/ledger/usage.ts';
import { withRecordFaults } from '../../../support/memory/faults.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { ID, settledRecord } from './ledger-scene.ts';

const released = (holdId: string, reason: string): ChargeRecord => ({
  ...settledRecord(holdId, 0n, 0),
  outcome: 'released',
  reason,
});
const charged = (holdId: string): ChargeRecord => settledRecord(holdId, 5n, 0);

const open = async (...records: readonly ChargeRecord[]): Promise<MemoryLedgerStore> => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ID, 0);
  await memory.credit({ accountId: ID, ref: 'first', amountPicos: 1_000n, reason: 'test', at: 0 });
  for (const record of records) await memory.putRecord(record);
  return memory;
};
const hold = (memory: MemoryLedgerStore, holdId: string) =>
  memory.hold({ accountId: ID, holdId, amountPicos: 7n, expiresAtMs: 9, sweepAtMs: 0, previousHoldId: undefined });

const list = async (memory: MemoryLedgerStore, range: UsageRange) => {
  const { records, nextHoldId } = await listUsage(memory, ID, range);
  return [records.map(({ holdId }) => holdId), nextHoldId] as const;
};

test('BILL-15 a request is listed once, by its charge or else a release that is not `given_up`', async () => {
  const memory = await open(
    charged('a.0'),
    released('b.0', 'given_up'),
    charged('b.1'),
    released('c.0', 'given_up'),
    released('d.0', 'upstream_error'),
    released('d.1', 'given_up'),
    charged('e.0'),
    released('e.1', 'taken_over'),
  );
  expect(await list(memory, { limit: 10 })).toEqual([['e.0', 'd.0', 'b.1', 'a.0'], undefined]);
});

test('BILL-15 the last of more than ten holds decides', async () => {
  const memory = await open(released('a.9', 'expired'), released('a.10', 'upstream_error'));
  expect(await list(memory, { limit: 10 })).toEqual([['a.10'], undefined]);
});

test('BILL-15 pages of any size form the whole list, and the last page has no cursor', async () => {
  const records = Array.from({ length: 23 }, (_, index) => String.fromCharCode(97 + index)).flatMap(
    (request, index) => [
      ...(index % 3 === 0 ? [released(`${request}.0`, 'given_up')] : []),
      ...(index % 5 === 4 ? [] : [index % 2 === 0 ? charged(`${request}.1`) : released(`${request}.1`, 'expired')]),
    ],
  );
  const memory = await open(...records);
  const [whole] = await list(memory, { limit: 100 });
  for (let limit = 1; limit <= 24; limit += 1) {
    const found: string[] = [];
    let beforeHoldId: string | undefined;
    do {
      const [page, next] = await list(memory, { limit, beforeHoldId });
      expect(page.length).toBe(next === undefined ? page.length : limit);
      expect(page.length).toBeGreaterThan(0);
      found.push(...page);
      beforeHoldId = next;
    } while (beforeHoldId !== undefined);
    expect(found).toEqual(whole);
  }
});

test('BILL-15 a list is limited to its range', async () => {
  const memory = await open(charged('a.0'), charged('b.0'), charged('c.0'), charged('d.0'));
  expect(await list(memory, { fromHoldId: 'b', beforeHoldId: 'd', limit: 9 })).toEqual([['c.0', 'b.0'], undefined]);
  expect(await list(memory, { fromHoldId: 'b', beforeHoldId: 'd', limit: 1 })).toEqual([['c.0'], 'c.0']);
});

test('BILL-15 a lookup by id distinguishes ended, open and unknown requests', async () => {
  const memory = await open(charged('a.0'), released('b.0', 'given_up'), released('c.0', 'given_up'));
  await hold(memory, 'b.1');
  await hold(memory, 'c.0');
  const find = (requestId: string) => usageOfRequest(memory, memory, { accountId: ID, requestId });
  expect(await find('a')).toEqual({ kind: 'ended', record: charged('a.0') });
  expect(await find('b')).toEqual({ kind: 'open', hold: { amountPicos: 7n, expiresAtMs: 9 } });
  expect(await find('c')).toBeUndefined();
  expect(await find('d')).toBeUndefined();
  await memory.putRecord(charged('b.1'));
  expect(await find('b')).toMatchObject({ kind: 'ended', record: { holdId: 'b.1' } });
});

test('BILL-15 a request that ends during the lookup is found', async () => {
  const memory = await open();
  await hold(memory, 'a.0');
  const store = {
    readAccount: async (accountId: string) => {
      await memory.putRecord(charged('a.0'));
      await memory.apply(charged('a.0'), 7n, 0);
      return memory.readAccount(accountId);
    },
  };
  const records = withRecordFaults(memory, {});
  const found = await usageOfRequest(store, records, { accountId: ID, requestId: 'a' });
  expect(found).toMatchObject({ kind: 'ended', record: { holdId: 'a.0' } });
});

const ofKey = (holdId: string, changes: Partial<ChargeRecord>): ChargeRecord => ({ ...charged(holdId), ...changes });

test('BILL-15 filters select requests by their deciding record, and combine', async () => {
  const memory = await open(
    ofKey('a.0', { model: 'alpha-1', keyId: 'one', endUser: 'Zoë' }),
    ofKey('b.0', { model: 'beta-2', keyId: 'one' }),
    ofKey('c.0', { model: 'alpha-1', keyId: 'two' }),
    { ...released('d.0', 'given_up'), model: 'beta-2' },
    ofKey('d.1', { model: 'alpha-1' }),
    { ...released('e.0', 'expired'), model: 'alpha-1', keyId: 'one' },
  );
  const found = async (filter: UsageFilter) => (await list(memory, { limit: 10, filter }))[0];
  expect(await found({ model: 'alpha-1' })).toEqual(['e.0', 'd.1', 'c.0', 'a.0']);
  expect(await found({ model: 'beta-2' })).toEqual(['b.0']);
  expect(await found({ model: 'alpha-1', keyId: 'one' })).toEqual(['e.0', 'a.0']);
  expect(await found({ model: 'alpha-1', keyId: 'one', outcome: 'settled' })).toEqual(['a.0']);
  expect(await found({ outcome: 'released' })).toEqual(['e.0']);
  expect(await found({ endUser: 'Zoë' })).toEqual(['a.0']);
  expect(await found({ endUser: 'Zoe' })).toEqual([]);
});

test('BILL-15 a filtered page reads at most 5,000 records, and its cursor leads to every match', async () => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ID, 0);
  const idOf = (index: number) => `r${String(index).padStart(6, '0')}`;
  for (let index = 0; index < 7_000; index += 1) {
    const isSought = index % 1_750 === 3;
    await memory.putRecord(ofKey(`${idOf(index)}.1`, { keyId: isSought ? 'two' : 'one' }));
    if (index % 3 === 0) await memory.putRecord(released(`${idOf(index)}.0`, 'given_up'));
  }
  let read = 0;
  const inner = memory.listRecords.bind(memory);
  memory.listRecords = async (accountId, range) => {
    const page = await inner(accountId, range);
    read += page.records.length;
    return page;
  };
  const found: (readonly string[])[] = [];
  let beforeHoldId: string | undefined;
  do {
    read = 0;
    const [page, next] = await list(memory, { limit: 3, beforeHoldId, filter: { keyId: 'two' } });
    expect(read).toBeLessThanOrEqual(5_000);
    found.push(page);
    beforeHoldId = next;
  } while (beforeHoldId !== undefined);
  expect(found).toEqual([
    [5_253, 3_503].map((index) => `${idOf(index)}.1`),
    [1_753, 3].map((index) => `${idOf(index)}.1`),
  ]);
});
