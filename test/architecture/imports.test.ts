import { describe, expect, test } from 'vitest';
import { importProblems } from './import-rules.ts';
import { COMPUTED, importsOf, listPaths, readSource, withoutComments } from './read-imports.ts';
import { pathProblems, sourceProblems } from './source-rules.ts';

const paths = listPaths();
const sources = paths
  .filter((path) => /^(bin|lib|local|reference|lambdas|catalog|test|bench|web)\/.*\.tsx?$/.test(path))
  .map((path) => ({ path, source: readSource(path) }));

test('every import of every file points where it may', () => {
  expect(sources.length).toBeGreaterThan(50);
  const imports = sources.map(({ path, source }) => ({ path, imports: importsOf(path, source) }));
  // CallerIdentity that the reading of imports works at all, in all its forms.
  expect(imports.flatMap((file) => file.imports)).toEqual(
    expect.arrayContaining(['zod', '@aws-sdk/client-secrets-manager', 'lambdas/core/errors/gateway-error.ts']),
  );
  expect(imports.flatMap((file) => importProblems(file.path, file.imports))).toEqual([]);
});

test('every file and folder has a name that says something, in a folder that is planned', () => {
  expect(paths.flatMap(pathProblems)).toEqual([]);
});

test('time, randomness, the environment and the network come in as arguments, and no file is too long', () => {
  expect(sources.flatMap(({ path, source }) => sourceProblems(path, source))).toEqual([]);
});

describe('reads imports', () => {
  test('of every kind, over several lines, and none out of comments', () => {
    const source = [
      "import a from './a.ts';import b from '../b.ts';",
      'import type {',
      '  C, // from "./commented.ts"',
      "} from './c.ts';",
      "import './effect.ts';",
      'export * from "./d.ts";',
      "export type { E } from './e.ts';",
      "const f = await import('./f.ts');",
      "type G = import('./g.ts').G;",
      "const h = require('./h.ts');",
      "import data from './i.json' with { type: 'json' };",
      "// import './not.ts'",
      "/* export * from './not.ts' */",
      "const url = 'https://example.com'; import('library');",
    ].join('\n');
    const names = ['a', 'c', 'd', 'e', 'f', 'g', 'h', 'effect'].map((name) => `lambdas/http/${name}.ts`);
    expect(importsOf('lambdas/http/x.ts', source).toSorted()).toEqual(
      ['lambdas/b.ts', 'lambdas/http/i.json', 'library', ...names].toSorted(),
    );
  });

  test('and tells a computed one', () => {
    expect(importsOf('lambdas/http/x.ts', 'await import(name)')).toEqual([COMPUTED]);
  });

  test('keeps what only looks like a comment', () => {
    expect(withoutComments(`f('// kept', "/* kept */") // gone`)).toBe(`f('// kept', "/* kept */")  `);
  });
});

describe('each rule can fail', () => {
  test.each([
    ['lambdas/core/ledger/hold.ts', 'lambdas/stores/dynamodb/client.ts'],
    ['lambdas/core/ledger/hold.ts', 'zod'],
    ['lambdas/core/ledger/hold.ts', 'node:fs'],
    ['lambdas/core/catalog/schema.ts', 'ulid'],
    ['lambdas/core/text/x.ts', COMPUTED],
    ['lambdas/protocols/messages/x.ts', 'lambdas/protocols/responses/x.ts'],
    ['lambdas/protocols/parse.ts', 'lambdas/protocols/responses/x.ts'],
    ['lambdas/protocols/messages/x.ts', 'lambdas/providers/openai/x.ts'],
    ['lambdas/providers/google/x.ts', 'lambdas/providers/openai/x.ts'],
    ['lambdas/providers/read-json.ts', 'lambdas/providers/openai/x.ts'],
    ['lambdas/providers/google/x.ts', 'lambdas/http/x.ts'],
    ['lambdas/limits.ts', 'lambdas/core/json.ts'],
    ['lambdas/providers/x.ts', 'lambdas/limits.ts'],
    ['lambdas/http/x.ts', 'lambdas/protocols/parse.ts'],
    ['lambdas/http/x.ts', 'lambdas/stores/dynamodb/client.ts'],
    ['lambdas/http/x.ts', '@aws-sdk/client-dynamodb'],
    ['lambdas/stores/dynamodb/x.ts', 'lambdas/http/x.ts'],
    ['lambdas/stores/dynamodb/x.ts', '@aws-sdk/client-dynamodb'],
    ['lambdas/functions/text.ts', 'lambdas/host/server.ts'],
    ['lambdas/functions/text.ts', 'lib/tables.ts'],
    ['lambdas/functions/text.ts', 'aws-cdk-lib/aws-lambda'],
    ['lambdas/functions/text.ts', 'test/support/x.ts'],
    ['lambdas/host/x.ts', 'lambdas/stores/dynamodb/client.ts'],
    ['lib/stacks/data.ts', 'lambdas/core/ledger/hold.ts'],
    ['lib/stacks/data.ts', 'local/create-tables.ts'],
    ['lib/stacks/data.ts', '@aws-sdk/client-dynamodb'],
    ['catalog/index.ts', 'lambdas/core/catalog/catalog.ts'],
    ['web/app.ts', 'lambdas/core/money/usd.ts'],
    ['lambdas/messenger/x.ts', 'lambdas/stores/dynamodb/client.ts'],
    ['lambdas/odd/x.ts', 'zod'],
    ['odd/x.ts', 'zod'],
    ['lambdas/http/x.ts', '../outside.ts'],
  ])('%s may not import %s', (path, target) => {
    expect(importProblems(path, [target])).toHaveLength(1);
  });

  test.each([
    ['lambdas/core/catalog/schema.ts', 'zod'],
    ['lambdas/core/accounts/keys.ts', 'node:crypto'],
    ['lambdas/protocols/messages/x.ts', 'lambdas/protocols/parse.ts'],
    ['lambdas/stores/dynamodb/dynamodb.ts', '@aws-sdk/client-dynamodb'],
    ['lambdas/functions/text.ts', 'catalog/index.ts'],
    ['lambdas/host/x.ts', 'lambdas/functions/text.ts'],
    ['lambdas/http/x.ts', 'lambdas/limits.ts'],
    ['lambdas/settings.ts', 'lambdas/limits.ts'],
    ['lib/functions.ts', 'lambdas/limits.ts'],
    ['lib/stacks/api.ts', 'lambdas/core/catalog/schema.ts'],
    ['lib/stacks/api.ts', 'aws-cdk-lib'],
    ['local/x.ts', 'lambdas/functions/text.ts'],
    ['test/x.test.ts', 'lambdas/functions/text.ts'],
  ])('%s may import %s', (path, target) => {
    expect(importProblems(path, [target])).toEqual([]);
  });

  test.each([
    'lambdas/http/utils.ts',
    'lib/common/x.ts',
    'lambdas/core/helpers.test.ts',
    'test/shared/',
    'lib/service/',
  ])('%s is no name', (path) => expect(pathProblems(path)).toHaveLength(1));

  test('an unknown top-level folder is refused, a known one and the service tests are not', () => {
    expect(pathProblems('scripts/run.ts')).toHaveLength(1);
    expect(pathProblems('scripts/')).toHaveLength(1);
    expect(['lambdas/', 'package.json', 'test/service/chat.test.ts', 'test/service/'].flatMap(pathProblems)).toEqual(
      [],
    );
    expect(pathProblems('test/service/utils.ts')).toHaveLength(1);
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
  ])('%s is refused in lambdas but for functions and host', (source) => {
    expect(sourceProblems('lambdas/http/x.ts', source)).toHaveLength(1);
    expect(sourceProblems('lambdas/functions/text.ts', source)).toEqual([]);
    expect(sourceProblems('lambdas/host/x.ts', source)).toEqual([]);
    expect(sourceProblems('local/x.ts', source)).toEqual([]);
  });

  test.each(['placeHold', 'commitCharge', 'applyCharge'])('%s( is refused outside the paid call', (name) => {
    const source = `await ${name}(ports.ledger, order);`;
    expect(sourceProblems('lambdas/core/text/x.ts', source)).toHaveLength(1);
    expect(sourceProblems('lambdas/core/paid-call/with-paid-call.ts', source)).toEqual([]);
  });

  test('what only looks like it is not', () => {
    const source = 'new Date(nowMs); prefetch(x); client.fetch(x); // Date.now()';
    expect(sourceProblems('lambdas/core/x.ts', source)).toEqual([]);
  });

  test('a file of the program has at most 400 lines', () => {
    expect(sourceProblems('lib/x.ts', 'a;\n'.repeat(401))).toHaveLength(1);
    expect(sourceProblems('lib/x.ts', 'a;\n'.repeat(400))).toEqual([]);
  });
});
