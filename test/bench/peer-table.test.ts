import { expect, test } from 'vitest';
import { type Result, type Round, toTable } from '../../bench/peer-table.ts';

const round = (plainUs: number, more: Partial<Round> = {}): Round => ({
  ...{ plainUs, perSecond: 1_000_000 / plainUs, addedMs: plainUs / 1_000, streamUs: plainUs * 2 },
  ...more,
});

const result = (id: string, rounds: readonly Round[], more: Partial<Result> = {}): Result => ({
  ...{ id, title: id, rounds, rssMb: 100 },
  ...more,
});

const rowOf = (table: string, title: string): readonly string[] =>
  (table.split('\n').find((line) => line.startsWith(`| ${title} `)) ?? '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());

test('a cell has the median and the median ratio of the rounds', () => {
  const table = toTable(
    [result('one', [round(100), round(300), round(800)]), result('two', [round(200), round(400), round(400)])],
    'two',
  );
  expect(rowOf(table, 'one')[0]).toBe('300 (0.75)');
  expect(rowOf(table, 'two')).toEqual(['400 (1.00)', '2500 (1.00)', '0.40 (1.00)', '800 (1.00)', '100 (1.00)']);
});

test('a table without its reference has no ratios', () => {
  expect(rowOf(toTable([result('one', [round(100)])], 'two'), 'one')).toEqual(['100', '10000', '0.10', '200', '100']);
});

test('a program that does not stream has the reason, and the others have no ratio to it', () => {
  const { streamUs: _, ...silent } = round(100);
  const table = toTable([result('one', [round(100)]), result('two', [silent], { streamProblem: 'status 500' })], 'two');
  expect([rowOf(table, 'one')[3], rowOf(table, 'two')[3]]).toEqual(['200', 'fails: status 500']);
});

test('every line of a table has the same width', () => {
  const lines = toTable([result('one', [round(100)]), result('another', [round(5)])], 'one').split('\n');
  expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
});
