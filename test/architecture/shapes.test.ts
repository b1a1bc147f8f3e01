import { expect, test } from 'vitest';
import { exceptions } from './exceptions.ts';
import { isProduct, readSources } from './read-imports.ts';
import { hasEmptyEnding, hasStarExport, isPassThrough, isTooLong, repeatedNames, smallFiles } from './shape-rules.ts';

const sources = readSources();
const product = sources.filter(({ path }) => isProduct(path));
const pathsOf = (files: readonly { readonly path: string }[]): readonly string[] => files.map(({ path }) => path);
const file = (path: string, imports: readonly string[] = [], source = '') => ({ path, source, imports });

test('a product file has at most 400 lines', () => {
  expect(pathsOf(sources.filter(isTooLong))).toEqual([]);
  expect(isTooLong({ path: 'lib/x.ts', source: 'a;\n'.repeat(401) })).toBe(true);
  expect(isTooLong({ path: 'lib/x.ts', source: 'a;\n'.repeat(400) })).toBe(false);
  expect(isTooLong({ path: 'test/x.ts', source: 'a;\n'.repeat(401) })).toBe(false);
});

test('a product file has at least 25 lines or two importers, or starts a program', () => {
  expect(smallFiles(sources).toSorted()).toEqual(exceptions.small);
  const importers = [file('lib/a.ts', ['lib/x.ts'], 'a;\n'.repeat(25)), file('test/a.ts', ['lib/x.ts'])];
  expect(smallFiles([file('lib/x.ts'), ...importers])).toEqual(['lib/x.ts']);
  expect(smallFiles([file('lib/x.ts'), ...importers, file('bin/a.ts', ['lib/x.ts'])])).toEqual([]);
  expect(smallFiles([file('lambdas/functions/text.ts')])).toEqual([]);
});

test('no product file only re-exports, and none exports a whole file', () => {
  expect(pathsOf(product.filter(({ source }) => isPassThrough(source)))).toEqual([]);
  expect(pathsOf(product.filter(({ source }) => hasStarExport(source)))).toEqual([]);
});

test.each([
  ["// A comment.\nexport { a } from './a.ts';\nexport type { B } from './b.ts';", true],
  ["import { a } from './a.ts';\nimport type {\n  B,\n} from './b.ts';\n\nexport { a };", true],
  ["export { a } from './a.ts';\nexport const b = 1;", false],
  ["import './effect.ts';", false],
])('%j only re-exports: %s', (source, expected) => {
  expect(isPassThrough(source)).toBe(expected);
});

test.each([
  ["export * from './a.ts';", true],
  ["a();\nexport * as b from './b.ts';", true],
  ["export { a } from './a.ts'; // export * from", false],
])('%j exports a whole file: %s', (source, expected) => {
  expect(hasStarExport(source)).toBe(expected);
});

test('no product file has a name that ends in helpers, parts, ports or utils', () => {
  expect(pathsOf(product).filter(hasEmptyEnding).toSorted()).toEqual(exceptions.endings);
  expect(['lib/text-helpers.ts', 'lib/parts.ts', 'lib/supports.ts'].filter(hasEmptyEnding)).toEqual([
    'lib/text-helpers.ts',
    'lib/parts.ts',
  ]);
});

test('no two files of lambdas have one base name for different things', () => {
  expect(repeatedNames(sources).toSorted()).toEqual(exceptions.baseNames);
});

test.each([
  [['lambdas/http/frame.ts', 'lambdas/protocols/frame.ts'], true],
  [['lambdas/core/a/frame.ts', 'lambdas/http/frame.ts'], true],
  [['lambdas/http/errors.ts', 'lambdas/protocols/errors.ts'], false],
  [['lambdas/core/a/key-store.ts', 'lambdas/stores/dynamodb/key-store.ts'], false],
  [['lambdas/providers/a/image-wire.ts', 'lambdas/providers/b/image-wire.ts'], false],
  [['lambdas/functions/audit.ts', 'lambdas/core/ledger/audit.ts'], false],
])('%j use one name for different things: %s', (paths, expected) => {
  expect(repeatedNames(paths.map((path) => file(path))).length > 0).toBe(expected);
});

test('a file may have the name of the core file that it imports', () => {
  const spend = file('lambdas/core/ledger/spend.ts');
  expect(repeatedNames([spend, file('lambdas/protocols/app/spend.ts', [spend.path])])).toEqual([]);
});
