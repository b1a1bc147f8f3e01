import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { exceptions } from './exceptions.ts';
import { packageOf, readManifest, undeclaredPackages, unusedDependencies, unusedTools } from './package-rules.ts';
import { readSource, readSources, repository } from './read-imports.ts';

const manifest = readManifest();
/**
 * Sources without the tests of the rules, which contain sample imports. `readme` counts as a source too, because a
 * service test runs its programs.
 */
const sources = readSources().filter(({ path }) => !path.startsWith('test/architecture/'));
const readme = { path: 'README.md', source: readSource('README.md'), imports: [] };
const file = (path: string, imports: readonly string[], source = '') => ({ path, source, imports });
const sample = { dependencies: { zod: '4' }, devDependencies: { vitest: '5' }, optionalDependencies: {}, scripts: {} };

const binSchema = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]).optional() });

/** Commands of an installed package. */
const commandsOf = (name: string): readonly string[] => {
  const path = `node_modules/${name}/package.json`;
  if (!existsSync(join(repository, path))) return [];
  const { bin = {} } = binSchema.parse(JSON.parse(readSource(path)));
  return typeof bin === 'string' ? [name.split('/').at(-1) ?? name] : Object.keys(bin);
};

test('package.json declares every package that a file imports', () => {
  expect(undeclaredPackages(sources, manifest)).toEqual([]);
  expect(undeclaredPackages([file('lib/a.ts', ['zod/v4', 'left-pad'])], sample)).toEqual(['left-pad']);
});

test('the product imports every dependency', () => {
  expect(unusedDependencies(sources, manifest).toSorted()).toEqual(exceptions.packages);
  expect(unusedDependencies([file('test/a.ts', ['zod'])], sample)).toEqual(['zod']);
  expect(unusedDependencies([file('lib/a.ts', ['zod'])], sample)).toEqual([]);
});

test('every development dependency is used by a file or a script', () => {
  expect(unusedTools([...sources, readme], manifest, commandsOf)).toEqual([]);
  expect(unusedTools([], sample, () => ['vitest'])).toEqual(['vitest']);
  expect(unusedTools([], { ...sample, scripts: { test: 'vitest run' } }, () => ['vitest'])).toEqual([]);
  expect(unusedTools([file('test/a.ts', ['vitest'])], sample, () => [])).toEqual([]);
});

test.each([
  ['zod', 'zod'],
  ['preact/hooks', 'preact'],
  ['@aws-sdk/client-s3', '@aws-sdk/client-s3'],
  ['ipaddr.js', 'ipaddr.js'],
  ['@redocly/cli/bin/cli.js', '@redocly/cli'],
  ['node:fs', undefined],
  ['lib/tables.ts', undefined],
  ['catalog/google.json', undefined],
  ['(computed)', undefined],
])('the package of %s is %s', (target, expected) => {
  expect(packageOf(target)).toBe(expected);
});
