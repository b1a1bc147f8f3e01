import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import {
  createDaySums,
  createKeySums,
  groupCells,
  type UsageCell,
} from '../../../../lambdas/core/ledger/usage-sums.ts';
import { settledRecord } from './ledger-scene.ts';

const charged = (amountPicos: bigint, names: Partial<ChargeRecord> = {}): ChargeRecord => ({
  ...settledRecord('a.0', amountPicos, 0),
  ...names,
});

const sumOf = (cells: readonly UsageCell[]): readonly [requests: number, picos: bigint] => [
  cells.reduce((sum, { requests }) => sum + requests, 0),
  cells.reduce((sum, { amountPicos }) => sum + amountPicos, 0n),
];

test('BILL-23 a day sums requests, charges and tokens by model, key and end user', () => {
  const sums = createDaySums();
  const usage = { input: 5, cacheRead: 2, cacheWrite1h: 1, output: 3, reasoning: 4, second: 1.5 };
  sums.add(charged(3n, { model: 'alpha-1', keyId: 'k', endUser: 'Zoë', usage }));
  sums.add(charged(4n, { model: 'alpha-1', keyId: 'k', endUser: 'Zoë', usage: { second: 2 } }));
  sums.add(charged(5n));
  expect(sums.cells()).toEqual([
    { model: 'alpha-1', keyId: 'k', endUser: 'Zoë', requests: 2, amountPicos: 7n, inputTokens: 8, outputTokens: 7 },
    { requests: 1, amountPicos: 5n, inputTokens: 0, outputTokens: 0 },
  ]);
});

test('BILL-23 a day of many end users stays below 60 kB, and its sums stay exact by model', () => {
  let sums = createDaySums();
  for (let index = 0; index < 3_000; index += 1) {
    // A part is stored and continued, as between two reads.
    if (index % 700 === 0) sums = createDaySums(sums.cells());
    sums.add(
      charged(1n, {
        model: `model-${index % 3}`,
        keyId: '0123456789abcdef',
        endUser: `${'\u{1f600}'.repeat(40)}${index}`,
      }),
    );
  }
  const cells = sums.cells();
  expect(
    Buffer.byteLength(JSON.stringify(cells, (_, value) => (typeof value === 'bigint' ? String(value) : value))),
  ).toBeLessThan(60_000);
  expect(cells.length).toBeGreaterThan(150);
  expect(sumOf(cells)).toEqual([3_000, 3_000n]);
  expect(cells.filter(({ isOther }) => isOther).map(({ model }) => model)).toHaveLength(3);
  const days = new Map([['2026-11-26', cells]]);
  const byModel = groupCells(days, new Set(['model']));
  expect(byModel.map(({ model, requests }) => [model, requests])).toEqual([
    ['model-0', 1_000],
    ['model-1', 1_000],
    ['model-2', 1_000],
  ]);
  const byUser = groupCells(days, new Set(['end_user']));
  expect(byUser.filter(({ isOther }) => isOther)).toHaveLength(1);
  expect(sumOf(byUser)).toEqual([3_000, 3_000n]);
});

test('BILL-23 an end user without a name and merged end users are different rows', () => {
  const nothing = { requests: 1, amountPicos: 1n, inputTokens: 0, outputTokens: 0 };
  const cells: readonly UsageCell[] = [
    { model: 'a', ...nothing },
    { model: 'a', isOther: true, ...nothing },
    { model: 'b', isOther: true, ...nothing, amountPicos: 2n },
  ];
  const rows = groupCells(new Map([['2026-11-26', cells]]), new Set(['end_user', 'key']));
  expect(rows.map(({ isOther, amountPicos }) => [isOther, amountPicos])).toEqual([
    [true, 3n],
    [undefined, 1n],
  ]);
});

test('BILL-23 rows are in the order of their days, and the highest amount comes first', () => {
  const cell = (model: string, amountPicos: bigint): UsageCell => ({
    model,
    requests: 1,
    amountPicos,
    inputTokens: 1,
    outputTokens: 0,
  });
  const days = new Map([
    ['2026-11-27', [cell('a', 1n), cell('c', 9n), cell('b', 9n)]],
    ['2026-11-26', [cell('a', 2n)]],
  ]);
  const names = (group: 'day' | 'model') =>
    groupCells(days, new Set([group])).map(({ day, model, amountPicos }) => `${day ?? model} ${amountPicos}`);
  expect(names('day')).toEqual(['2026-11-26 2', '2026-11-27 19']);
  expect(names('model')).toEqual(['b 9', 'c 9', 'a 3']);
  expect(groupCells(days, new Set(['day', 'model'])).map(({ day, model }) => `${day} ${model}`)).toEqual([
    '2026-11-26 a',
    '2026-11-27 b',
    '2026-11-27 c',
    '2026-11-27 a',
  ]);
});

test('BILL-23 of more than 500 keys, the sums keep those that were used last', () => {
  let sums = createKeySums();
  for (let index = 0; index < 700; index += 1) {
    sums.add(charged(1n, { keyId: `key-${index}` }));
    sums.add(charged(1n, { keyId: 'busy' }));
    sums.add(charged(7n));
    if (index === 400) sums = createKeySums(sums.cells());
  }
  const cells = new Map(sums.cells().map(({ keyId, amountPicos }) => [keyId, amountPicos]));
  expect([cells.size, cells.get('busy'), cells.get('key-699'), cells.get('key-0')]).toEqual([500, 700n, 1n, undefined]);
});
