import { expect, test } from 'vitest';
import { busyTicks, median, parseStat, quantile, statOf, treeOf } from '../../bench/measure.ts';

const line = '41 (a (b) c) S 7 41 41 0 -1 4194304 1 2 3 4 10 20 300 4000 20 0 11 0 9';

test('the CPU time of a process includes its children that have ended', () => {
  expect(parseStat(line)).toEqual({ pid: 41, parent: 7, ticks: 4_330 });
});

test('a tree has a process and its descendants, and no other process', () => {
  const all = [
    { pid: 1, parent: 0, ticks: 0 },
    { pid: 2, parent: 1, ticks: 0 },
    { pid: 3, parent: 2, ticks: 0 },
    { pid: 4, parent: 3, ticks: 0 },
    { pid: 5, parent: 1, ticks: 0 },
  ];
  expect(treeOf(2, all).map(({ pid }) => pid)).toEqual([2, 3, 4]);
  expect(treeOf(9, all)).toEqual([]);
});

test.runIf(process.platform === 'linux')('a process without an id has no CPU time', () => {
  expect(() => statOf(0)).toThrow('The process 0 has ended.');
  expect(statOf(process.pid).rssMb).toBeGreaterThan(0);
});

test('a quantile is one of the values', () => {
  expect(quantile([4, 1, 3, 2], 0.25)).toBe(2);
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 6])).toBe(5.5);
  expect(median([])).toBeNaN();
});

test('busy ticks leave out idle time, waiting, interrupts and other cores', () => {
  const text = ['cpu  9 9 9 9', 'cpu0 1 2 4 1000 1000 1000 1000 8 0 0', 'cpu1 16 0 0 1 1 1 1 0', 'cpu2 900 0'].join(
    '\n',
  );
  expect(busyTicks(text)).toBe(31);
});
