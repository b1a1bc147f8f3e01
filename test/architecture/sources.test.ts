import { describe, expect, test } from 'vitest';
import { exceptions } from './exceptions.ts';
import { isProduct, listPaths, readSources } from './read-imports.ts';
import {
  assignsEnvironment,
  callProblems,
  pathProblems,
  readsEnvironmentAnywhere,
  sourceProblems,
} from './source-rules.ts';

const sources = readSources();
/** Sources without the tests of the rules, which contain samples of forbidden code. */
const checked = sources.filter(({ path }) => !path.startsWith('test/architecture/'));

test('every file and folder has a meaningful name and is in a known folder', () => {
  expect(listPaths().flatMap(pathProblems)).toEqual([]);
});

test('time, randomness, the environment and the network are arguments', () => {
  expect(sources.flatMap(({ path, source }) => sourceProblems(path, source))).toEqual([]);
});

test('only programs read process.env, and no product file changes it', () => {
  expect(checked.filter(({ path, source }) => readsEnvironmentAnywhere(path, source))).toEqual([]);
  const assigning = checked.filter(({ source }) => assignsEnvironment(source)).map(({ path }) => path);
  expect(assigning.toSorted()).toEqual(exceptions.assignedEnvironment);
  expect(assigning.filter(isProduct)).toEqual([]);
});

test('only paid calls place holds and commit charges, and only adapters build SDK commands', () => {
  const problems = sources.flatMap(({ path, source }) => callProblems(path, source));
  expect(problems.toSorted()).toEqual(exceptions.calls);
});

describe('each rule can fail', () => {
  test.each([
    'lambdas/http/utils.ts',
    'lib/common/x.ts',
    'lambdas/core/helpers.test.ts',
    'test/shared/',
    'lib/service/',
    'test/service/utils.ts',
    'scripts/run.ts',
    'scripts/',
  ])('the path %s is refused', (path) => expect(pathProblems(path)).toHaveLength(1));

  test('known folders and the service tests are accepted', () => {
    expect(['lambdas/', 'package.json', 'test/service/chat.test.ts', 'test/service/'].flatMap(pathProblems)).toEqual(
      [],
    );
  });

  test.each([
    'process.env.HOME',
    "process['env']",
    'Date.now()',
    'now: Date.now,',
    'new Date()',
    'performance.now()',
    'Math.random()',
    "import { randomBytes } from 'node:crypto'",
    'await fetch(url)',
    'globalThis.fetch',
  ])('%s is refused in lambdas, but not in functions and host', (source) => {
    expect(sourceProblems('lambdas/http/x.ts', source)).toHaveLength(1);
    expect(sourceProblems('lambdas/functions/text.ts', source)).toEqual([]);
    expect(sourceProblems('lambdas/host/x.ts', source)).toEqual([]);
    expect(sourceProblems('local/x.ts', source)).toEqual([]);
  });

  test('code that only resembles a forbidden read is accepted', () => {
    const source = 'new Date(nowMs); prefetch(x); client.fetch(x); // Date.now()';
    expect(sourceProblems('lambdas/core/x.ts', source)).toEqual([]);
  });

  test('local and lib do not read process.env, bin does', () => {
    expect(readsEnvironmentAnywhere('local/x.ts', 'process.env.HOME')).toBe(true);
    expect(readsEnvironmentAnywhere('lib/x.ts', 'f(process.env)')).toBe(true);
    expect(readsEnvironmentAnywhere('bin/x.ts', 'process.env.HOME')).toBe(false);
  });

  test.each([
    ["process.env.HOME = '/';", true],
    ["process.env['HOME'] ??= '/';", true],
    ['Object.assign(process.env, more);', true],
    ['delete process.env.HOME;', true],
    ["process.env.HOME === '/'", false],
    ['const home = process.env.HOME;', false],
  ])('%s changes the environment: %s', (source, changes) => {
    expect(assignsEnvironment(source)).toBe(changes);
  });

  test.each([
    ['lambdas/core/x.ts', 'new GetItemCommand({})'],
    ['lambdas/functions/text.ts', 'new GetItemCommand({})'],
    ['lambdas/core/text/x.ts', 'await placeHold(ledger)'],
    ['lambdas/protocols/x.ts', 'commitCharge(ports)'],
  ])('%s may not contain %s', (path, source) => {
    expect(callProblems(path, source)).toHaveLength(1);
  });

  test.each([
    ['lambdas/stores/s3/x.ts', 'new GetObjectCommand({})'],
    ['lambdas/core/paid-call/settle.ts', 'placeHold(ledger); commitCharge(ports)'],
    ['lambdas/core/ledger/hold.ts', 'export const placeHold = async () => {'],
    ['bin/program.ts', "new Command('audit')"],
    ['test/x.test.ts', 'new GetItemCommand({})'],
  ])('%s may contain %s', (path, source) => {
    expect(callProblems(path, source)).toEqual([]);
  });
});
