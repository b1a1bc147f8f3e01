import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limitNames } from '../../../lambdas/core/errors/gateway-error.ts';
import { measures, movements, operationalEvents } from '../../../lambdas/core/metrics.ts';

const folder = join(import.meta.dirname, '../../../lambdas');
/** File that lists the names. */
const list = join('core', 'metrics.ts');

const sources = globSync('**/*.ts', { cwd: folder })
  .filter((file) => file !== list)
  .map((file) => readFileSync(join(folder, file), 'utf8'))
  .join('\n');

/**
 * Whether the code emits the event, directly or as one branch of a conditional. A comparison with its name does not
 * count.
 */
const isNoticed = (name: string, code = sources): boolean =>
  new RegExp(`\\bnotice(?:\\?\\.)?\\(\\s*(?:[^,()]*[?:]\\s*)?'${name}'[,)\\s]`).test(code);

const isMeasured = (name: string, code = sources): boolean =>
  new RegExp(`\\bmeasured(?:\\?\\.)?\\(\\{[^}]*\\b${name}:`).test(code);

test.each(operationalEvents)('OPS-3 %s is emitted by the code', (name) => {
  expect(isNoticed(name)).toBe(true);
});

test.each(measures)('OPS-3 %s is measured by the code', (name) => {
  expect(isMeasured(name)).toBe(true);
});

test.each(limitNames)('OPS-3 the limit %s is named in a rejection', (name) => {
  expect(sources).toMatch(new RegExp(`limit: '${name}'`));
});

test.each(movements)('OPS-3 money that is %s is metered', (name) => {
  expect(sources).toMatch(new RegExp(`meter(?:\\?\\.)?\\(\\{[^}]*\\b${name}:`));
});

test('OPS-3 a name that the code never emits is detected', () => {
  expect([isNoticed('nothing_of_this'), isMeasured('nothing_of_this')]).toEqual([false, false]);
  const code = "notice(kind === 'one' ? 'two' : 'three', {}); commit({ reason: 'four' }); of('five', 'six');";
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  expect(names.filter((name) => isNoticed(name, code))).toEqual(['two', 'three']);
  expect(names.filter((name) => isMeasured(name, code))).toEqual([]);
});
