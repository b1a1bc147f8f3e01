import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moneyBugs } from '../mutants/money-bugs.ts';
import { withBug } from '../mutants/seed-bug.ts';
import { readSource, repository } from './read-imports.ts';

test('at least 25 bugs are on the list, each under a name of its own', () => {
  expect(moneyBugs.length).toBeGreaterThanOrEqual(25);
  expect(new Set(moneyBugs.map(({ id }) => id)).size).toBe(moneyBugs.length);
  expect(new Set(moneyBugs.map(({ what }) => what)).size).toBe(moneyBugs.length);
});

test.each(moneyBugs)('$id has its one place, changes it, and names tests that exist', (bug) => {
  const source = readSource(bug.file);
  expect(withBug(source, bug)).not.toBe(source);
  expect(bug.caughtBy).toMatch(/^test\/(lambdas|contracts)\/.*\.test\.ts$/);
  expect(existsSync(join(repository, bug.caughtBy)), bug.caughtBy).toBe(true);
});

test('a place that is gone or stands twice is told', () => {
  const bug = { id: 'a', what: 'b', file: 'c.ts', find: 'one', replace: 'two', caughtBy: 'd' };
  expect(withBug('one and $', { ...bug, replace: '$&' })).toBe('$& and $');
  expect(() => withBug('two', bug)).toThrow('0 times in c.ts');
  expect(() => withBug('one one', bug)).toThrow('2 times in c.ts');
});
