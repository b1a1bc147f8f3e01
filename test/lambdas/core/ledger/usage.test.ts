import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import type { RecordRange } from '../../../../lambdas/core/ledger/records.ts';
import { listUsage, usageOfRequest } from '../../../../lambdas/core/ledger/usage.ts';
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

const list = async (memory: MemoryLedgerStore, range: RecordRange) => {
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
