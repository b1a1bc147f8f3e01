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
