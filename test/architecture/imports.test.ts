import { describe, expect, test } from 'vitest';
import { exceptions } from './exceptions.ts';
import { importCycles } from './import-cycles.ts';
import { importProblems } from './import-rules.ts';
import { COMPUTED, importsOf, isProduct, readSources, withoutComments } from './read-imports.ts';

const sources = readSources();

test('every import of every file is allowed', () => {
  expect(sources.length).toBeGreaterThan(50);
  // Proves that the import reader finds all forms of imports.
  expect(sources.flatMap(({ imports }) => imports)).toEqual(
    expect.arrayContaining(['zod', '@aws-sdk/client-secrets-manager', 'lambdas/core/errors/gateway-error.ts']),
  );
  const isException = (path: string, target: string): boolean =>
    exceptions.imports.some((exception) => exception === `${path} -> ${target}`);
  const problems = sources.flatMap(({ path, imports }) =>
    importProblems(
      path,
      imports.filter((target) => !isException(path, target)),
    ),
  );
  expect(problems).toEqual([]);
});

test('every exception to the import rules is needed', () => {
  const needed = sources.flatMap(({ path, imports }) =>
    [...new Set(imports)]
      .filter((target) => importProblems(path, [target]).length > 0)
      .map((target) => `${path} -> ${target}`),
  );
  expect(exceptions.imports.filter((exception) => !needed.includes(exception))).toEqual([]);
});

test('no product files import each other in a cycle, types included', () => {
  expect(importCycles(sources.filter(({ path }) => isProduct(path))).toSorted()).toEqual(exceptions.cycles);
});

test('a cycle of two, of three and of one file is found', () => {
  const files: Readonly<Record<string, readonly string[]>> = {
    a: ['b', 'zod'],
    b: ['c'],
    c: ['b', 'd'],
    d: [],
    e: ['f'],
    f: ['g', 'd'],
    g: ['e'],
    h: ['h'],
  };
  const cycles = importCycles(Object.entries(files).map(([path, imports]) => ({ path, source: '', imports })));
  expect(cycles.toSorted()).toEqual(['b c', 'e f g', 'h']);
});

describe('the import reader', () => {
  test('finds imports of every form, also over several lines, and none in comments', () => {
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

  test('returns a placeholder for a computed target', () => {
    expect(importsOf('lambdas/http/x.ts', 'await import(name)')).toEqual([COMPUTED]);
  });

  test('keeps strings that look like a comment', () => {
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
    ['web/app.ts', 'lambdas/core/ledger/hold.ts'],
    ['lambdas/core/retry.ts', 'lambdas/core/ledger/ledger.ts'],
    ['lambdas/core/errors/x.ts', 'lambdas/core/money/usd.ts'],
    ['lambdas/core/limits/x.ts', 'lambdas/core/catalog/catalog.ts'],
    ['lambdas/core/pricing/x.ts', 'lambdas/core/ledger/hold.ts'],
    ['lambdas/core/circuit/x.ts', 'lambdas/core/ledger/hold.ts'],
    ['lambdas/core/ledger/x.ts', 'lambdas/core/paid-call/settle.ts'],
    ['lambdas/core/idempotency/x.ts', 'lambdas/core/text/generate-text.ts'],
    ['lambdas/core/paid-call/x.ts', 'lambdas/core/text/generate-text.ts'],
    ['lambdas/core/text/x.ts', 'lambdas/core/images/media.ts'],
    ['lambdas/core/odd/x.ts', 'lambdas/core/errors/gateway-error.ts'],
    ['lambdas/limits.ts', 'lambdas/core/money/usd.ts'],
    ['lambdas/messenger/x.ts', 'lambdas/settings.ts'],
    ['lambdas/providers/openai/x.ts', '@aws-sdk/client-s3'],
    ['local/x.ts', 'lambdas/functions/text.ts'],
    ['local/x.ts', 'lib/stacks/data.ts'],
    ['local/x.ts', 'aws-cdk-lib'],
    ['local/x.ts', 'test/support/x.ts'],
    ['local/page/x.ts', 'local/page/ui/main.tsx'],
    ['local/simulators/x.ts', 'lambdas/core/money/usd.ts'],
    ['local/simulators/x.ts', 'local/free-port.ts'],
    ['local/simulators/x.ts', '@aws-sdk/client-s3'],
    ['reference/x.ts', 'lambdas/stores/dynamodb/x.ts'],
    ['bin/x.ts', 'test/support/x.ts'],
    ['bin/x.ts', 'bench/run.ts'],
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
    ['lib/stacks/api.ts', 'lambdas/core/catalog/schema.ts'],
    ['lib/stacks/api.ts', 'aws-cdk-lib'],
    ['lambdas/core/idempotency/x.ts', 'lambdas/core/ledger/hold.ts'],
    ['lambdas/core/text/x.ts', 'lambdas/core/paid-call/settle.ts'],
    ['lambdas/core/errors/x.ts', 'lambdas/core/json.ts'],
    ['lambdas/http/x.ts', 'lambdas/limits.ts'],
    ['lib/stacks/api.ts', 'lambdas/limits.ts'],
    ['web/app.ts', 'lambdas/core/money/usd.ts'],
    ['local/x.ts', 'lambdas/functions/wiring/text-handler.ts'],
    ['local/page/x.ts', 'local/page/ui/wire.ts'],
    ['test/x.test.ts', 'lambdas/functions/text.ts'],
  ])('%s may import %s', (path, target) => {
    expect(importProblems(path, [target])).toEqual([]);
  });
});
