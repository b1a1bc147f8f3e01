import { expect, test } from 'vitest';
import type { DynamoDB, PutRequest, QueryRequest } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import type { Item } from '../../../../lambdas/stores/dynamodb/item.ts';
import { createUsageSums } from '../../../../lambdas/stores/dynamodb/usage-sums.ts';

/** Records requests, and returns these items to each query. */
const opened = (items: readonly Item[] = []) => {
  const queries: QueryRequest[] = [];
  const puts: PutRequest[] = [];
  const unused = (): never => {
    throw new Error('not expected');
  };
  const db: DynamoDB = {
    get: unused,
    update: unused,
    delete: unused,
    scan: unused,
    batchGet: unused,
    transact: unused,
    hot: { put: unused, update: unused },
    put: async (request) => {
      puts.push(request);
      return { conditionFailed: undefined };
    },
    query: async (request) => {
      queries.push(request);
      return items;
    },
  };
  return { queries, puts, records: createUsageSums(db, 'accounts') };
};

test('BILL-23 sums of days are one query of their range', async () => {
  const { queries, records } = opened();
  expect(await records.usageSums('one', '2026-11-01', '2026-11-26')).toEqual([]);
  expect(queries.map(({ values, isConsistent }) => [values, isConsistent])).toEqual([
    [{ ':pk': 'account#one', ':low': 'USAGE_SUMS#2026-11-01', ':high': 'USAGE_SUMS#2026-11-26' }, true],
  ]);
});

test('BILL-23 sums of one period are one put, on the condition of the revision before', async () => {
  const { puts, records } = opened();
  const first = await records.keepUsageSums('one', [{ period: '2026-11-26', cells: [], fromId: 'b', revision: 1 }]);
  const second = await records.keepUsageSums('one', [{ period: '2026-11-26', cells: [], revision: 2 }]);
  expect([first, second]).toEqual([false, false]);
  const key = { pk: 'account#one', sk: 'USAGE_SUMS#2026-11-26', cells: [] };
  expect(puts).toEqual([
    { table: 'accounts', item: { ...key, fromId: 'b', revision: 1 }, condition: 'attribute_not_exists(revision)' },
    { table: 'accounts', item: { ...key, revision: 2 }, condition: 'revision = :before', values: { ':before': 1 } },
  ]);
});

test('BILL-23 stored sums without cells are an error', async () => {
  const { records } = opened([{ pk: 'account#one', sk: 'USAGE_SUMS#2026-11-26', cells: 'none' }]);
  await expect(records.usageSums('one', '2026-11-26', '2026-11-26')).rejects.toThrow('no list "cells"');
});
