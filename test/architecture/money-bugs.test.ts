import { expect, test } from 'vitest';
import { filesOf, moneyBugs } from '../mutants/money-bugs.ts';
import { withBug } from '../mutants/seed-bug.ts';
import { testFiles } from '../tiers.ts';
import { readSource } from './read-imports.ts';

test('the list holds at least 330 mistakes, each with its own id and effect', () => {
  expect(moneyBugs.length).toBeGreaterThanOrEqual(330);
  expect(new Set(moneyBugs.map(({ id }) => id)).size).toBe(moneyBugs.length);
  expect(new Set(moneyBugs.map(({ what }) => what)).size).toBe(moneyBugs.length);
});

test.each(moneyBugs)('$id replaces one text in its file', (bug) => {
  const source = readSource(bug.file);
  expect(withBug(source, bug)).not.toBe(source);
});

test('every mistake names only test files of the unit or integration area', () => {
  const files = (['unit', 'integration'] as const).flatMap((area) => [
    ...testFiles(area, 'quick'),
    ...testFiles(area, 'long'),
  ]);
  expect(moneyBugs.flatMap(filesOf).filter((file) => !files.includes(file))).toEqual([]);
});

test('a text that does not occur exactly once in its file is rejected', () => {
  const bug = { id: 'a', what: 'b', file: 'c.ts', find: 'one', replace: 'two', caughtBy: 'd' };
  expect(withBug('one and $', { ...bug, replace: '$&' })).toBe('$& and $');
  expect(() => withBug('two', bug)).toThrow('c.ts holds the text to replace 0 times');
  expect(() => withBug('one one', bug)).toThrow('c.ts holds the text to replace 2 times');
});
