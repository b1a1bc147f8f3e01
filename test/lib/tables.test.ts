import { expect, test } from 'vitest';
import { tableNames, tables } from '../../lib/tables.ts';

test('every table is listed once', () => {
  expect([...tableNames].sort()).toEqual(Object.keys(tables).sort());
});

test('what holds money, keys or jobs is kept and can be restored; what expires is not', () => {
  for (const name of tableNames) {
    const table = tables[name];
    const lasting = table.timeToLiveAttribute === undefined;
    expect([table.pointInTimeRecovery, table.removal === 'retain', table.deletionProtection], name).toEqual([
      lasting,
      lasting,
      lasting,
    ]);
  }
});

test('VID-8 every index of the videos has a key that an item can go without, so that it shows no more than it should', () => {
  const { indexes, partitionKey } = tables.videos;
  const keys = indexes.map((index) => [index.name, index.partitionKey.name, index.sortKey?.name, index.projection]);
  expect(keys).toEqual([
    ['account', 'listedFor', 'createdAt', 'ALL'],
    ['running', 'running', 'dueAt', 'KEYS_ONLY'],
  ]);
  expect(partitionKey.name).toBe('pk');
});
