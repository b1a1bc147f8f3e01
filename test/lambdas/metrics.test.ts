import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { movements } from '../../lambdas/core/ledger/money-meter.ts';
import { limitNames } from '../../lambdas/core/limits/limit-name.ts';
import { measures } from '../../lambdas/core/measures.ts';
import { noticeNames } from '../../lambdas/core/notices.ts';

const folder = join(import.meta.dirname, '../../lambdas');
/** Where the names are only listed. */
const lists = ['core/notices.ts', 'core/measures.ts', 'core/limits/limit-name.ts', 'metrics.ts'];

const sources = globSync('**/*.ts', { cwd: folder })
  .filter((file) => !lists.includes(file))
  .map((file) => readFileSync(join(folder, file), 'utf8'))
  .join('\n');

/** As what is told of, or as what is measured. */
const isRaised = (name: string): boolean => new RegExp(`'${name}'[,) ]|measured\\(\\{[^}]*\\b${name}:`).test(sources);

test.each([...noticeNames, ...measures])('OPS-3 %s is raised by the code', (name) => {
  expect(isRaised(name)).toBe(true);
});

test.each(limitNames)('OPS-3 the limit %s is named by what turns requests away', (name) => {
  expect(sources).toMatch(new RegExp(`limit: '${name}'`));
});

test.each(movements)('OPS-3 money that is %s is metered', (name) => {
  expect(sources).toMatch(new RegExp(`meter(?:\\?\\.)?\\(\\{[^}]*\\b${name}:`));
});

test('OPS-3 a name that nobody raises is found out', () => {
  expect(isRaised('nothing_of_this')).toBe(false);
});
