import { expect, test } from 'vitest';
import type { DynamoDB, QueryRequest } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import type { Item } from '../../../../lambdas/stores/dynamodb/item.ts';
import { createStatementRecords } from '../../../../lambdas/stores/dynamodb/statement-records.ts';

/** Records queries, and returns these items to each of them. */
const opened = (items: readonly Item[] = [], stored?: Item) => {
  const queries: (readonly [QueryRequest, number | undefined])[] = [];
  const unused = (): never => {
    throw new Error('not expected');
  };
  const db: DynamoDB = {
    get: async () => stored,
    put: async () => ({ conditionFailed: stored }),
    update: unused,
    delete: unused,
    scan: unused,
    batchGet: unused,
    transact: unused,
    hot: { put: unused, update: unused },
    query: async (request, enough) => {
      queries.push([request, enough]);
      return items;
    },
  };
  return { queries, records: createStatementRecords(db, 'accounts') };
};

test('BILL-22 closings are read from the newest one, without more than the limit', async () => {
  const { queries, records } = opened();
  await records.closings('one', '2026-11', 2);
  await records.firstClosing('one');
  expect(
    queries.map(([{ values, isForward, limit, isConsistent }]) => [values, isForward, limit, isConsistent]),
  ).toEqual([
    [{ ':pk': 'account#one', ':low': 'STATEMENT#', ':high': 'STATEMENT#2026-11' }, false, 2, true],
    [{ ':pk': 'account#one', ':low': 'STATEMENT#', ':high': 'STATEMENT#~' }, undefined, 1, true],
  ]);
});

test('BILL-22 the changes of a month are read by their prefix', async () => {
  const item = { ref: 'r', amount: -5n, type: 'refund', of: 'c', reason: 'test', at: 7n, month: '2026-11' };
  const { queries, records } = opened([item]);
  expect(await records.creditsOfMonth('one', '2026-11')).toEqual([
    { ref: 'r', type: 'refund', amountPicos: 5n, of: 'c', reason: 'test', at: 7, month: '2026-11' },
  ]);
  expect(queries[0]?.[0].values).toEqual({ ':pk': 'account#one', ':prefix': 'STATEMENT_CREDIT#2026-11#' });
});

test('BILL-22 charges that another read stored first take precedence', async () => {
  const stored: Item = {
    charges: [
      { requests: 1n, amount: 3n },
      { model: 'alpha-1', requests: 2n, amount: 5n },
    ],
  };
  const models = [
    { model: undefined, requests: 1, amountPicos: 3n },
    { model: 'alpha-1', requests: 2, amountPicos: 5n },
  ];
  const charges = { models };
  const { records } = opened([], stored);
  expect(await records.keepCharges('one', '2026-11', { models: [] })).toEqual(charges);
  expect(await records.readCharges('one', '2026-11')).toEqual(charges);
  const part = opened([], { ...stored, beforeHoldId: 'hold-5' });
  expect(await part.records.readCharges('one', '2026-11')).toEqual({ models, beforeHoldId: 'hold-5' });
  const broken = opened([], { charges: 'none' });
  await expect(broken.records.readCharges('one', '2026-11')).rejects.toThrow('no list "charges"');
});
