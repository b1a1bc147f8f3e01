import { expect, test } from 'vitest';
import { isMirroredTest, sourceFinder, strayTests, untestedSources } from './mirror-rules.ts';
import { listPaths, readSource, readSources } from './read-imports.ts';
import { supportOfOneSuite } from './support-rules.ts';
import untested from './untested-sources.json' with { type: 'json' };

const sources = readSources();
const paths = listPaths();
const file = (path: string, imports: readonly string[] = [], source = '') => ({ path, source, imports });

test('every test file names a source of the folder that it mirrors', () => {
  expect(paths.filter(isMirroredTest).length).toBeGreaterThan(300);
  expect(strayTests(paths)).toEqual([]);
});

test('every source above 60 lines has a test file of its name, except the listed ones', () => {
  expect(untestedSources(sources, paths).toSorted()).toEqual(untested);
});

test('a test file belongs to the source with the longest fitting name', () => {
  const ledger = ['lambdas/core/ledger/hold.ts', 'lambdas/core/ledger/hold-again.ts'];
  const sourceOf = sourceFinder(ledger);
  expect(sourceOf('test/lambdas/core/ledger/hold.test.ts')).toBe(ledger[0]);
  expect(sourceOf('test/lambdas/core/ledger/hold-twice.test.ts')).toBe(ledger[0]);
  expect(sourceOf('test/lambdas/core/ledger/hold-again-late.long.test.ts')).toBe(ledger[1]);
  const strays = ['test/lambdas/core/ledger/holds.test.ts', 'test/lambdas/core/hold.test.ts'];
  expect(strayTests([...ledger, ...strays])).toEqual(strays);
  const large = file('lib/a.ts', [], 'a;\n'.repeat(61));
  expect(untestedSources([large], ['lib/a.ts'])).toEqual(['lib/a.ts']);
  expect(untestedSources([large], ['lib/a.ts', 'test/lib/a-again.test.ts'])).toEqual([]);
});

test('every file of test/support serves tests of at least two folders', () => {
  expect(supportOfOneSuite(sources, readSource('vitest.config.ts'))).toEqual([]);
});

test('a support file that only one folder uses, also through another support file, is found', () => {
  const [rig, inner] = ['test/support/rig.ts', 'test/support/inner.ts'];
  const files = [file(inner), file(rig, [inner]), file('test/service/a.test.ts', [rig])];
  expect(supportOfOneSuite(files, '')).toEqual([inner, rig]);
  expect(supportOfOneSuite([...files, file('test/service/b.test.ts', [rig])], '')).toEqual([inner, rig]);
  expect(supportOfOneSuite([...files, file('test/local/b.test.ts', [inner])], '')).toEqual([rig]);
  expect(supportOfOneSuite([...files, file('bench/run.ts', [rig])], '')).toEqual([]);
  expect(supportOfOneSuite(files, `setupFiles: ['${rig}', '${inner}']`)).toEqual([]);
  expect(supportOfOneSuite([file('test/support/memory/memory-stores.ts')], '')).toEqual([]);
});
