import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog, prepareCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError, type LoadOptions } from '../../../../lambdas/core/catalog/load-options.ts';
import { openPreparedCatalog } from '../../../../lambdas/core/catalog/prepared-catalog.ts';
import { data, image, price, problemsOf, provider, text, upstream } from './sample-data.ts';

const shipped = prepareCatalog(catalogData);

/** Problems of options, with either way of loading. */
const problemsIn = (open: () => unknown) => {
  try {
    open();
  } catch (error) {
    if (error instanceof CatalogError) return error.problems;
    throw error;
  }
  return [];
};

test.each<LoadOptions>([
  {},
  { markup: '1' },
  { markup: '1.25' },
  { markup: '0.5' },
  { markup: '3' },
  { companies: ['openai', 'google'] },
  { markup: '1.5', companies: [] },
])('CAT-5 BILL-3 the prepared catalog of this release equals the checked one with %o', (options) => {
  const checked = loadCatalog(catalogData, options);
  const prepared = openPreparedCatalog(shipped, options);
  expect(prepared.entries).toStrictEqual(JSON.parse(JSON.stringify(checked.entries, asText), toBigInt));
  expect(prepared.providers).toEqual(checked.providers);
  expect(prepared.markup).toBe(checked.markup);
});

/** Removes members that are undefined, which JSON does not have. */
const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
const toBigInt = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

test.each(['0', '-1', 'x', ''])('BILL-3 a prepared catalog rejects the markup "%s" like the checked one', (markup) => {
  const problems = problemsIn(() => openPreparedCatalog(shipped, { markup }));
  expect(problems).toHaveLength(1);
  expect(problems).toEqual(problemsIn(() => loadCatalog(catalogData, { markup })));
});

test('a prepared catalog rejects an unknown company like the checked one', () => {
  const options = { companies: ['openai', 'acme'] };
  const problems = problemsIn(() => openPreparedCatalog(shipped, options));
  expect(problems).toHaveLength(1);
  expect(problems).toEqual(problemsIn(() => loadCatalog(catalogData, options)));
});

test('BILL-3 a prepared catalog rejects a markup exactly where the checked one does', () => {
  const tiers = [{ aboveInputTokens: 1_000, rates: { input: '0.000003' } }];
  const models = [
    text({ prices: [price({ rates: { input: '0.000001', output: '0.000003' }, tiers })] }),
    image({ prices: [{ unit: 'megapixel', rates: megapixel }] }),
  ];
  const sold = data(models);
  const prepared = prepareCatalog(sold);
  for (const markup of ['1', '2', '0.5', '1.5', '1.001', '0.001', '0.000000000001']) {
    const fields = (open: () => unknown) => problemsIn(open).map(({ id, field }) => `${id} ${field}`);
    const expected = fields(() => loadCatalog(sold, { markup }));
    const found = fields(() => openPreparedCatalog(prepared, { markup }));
    expect([markup, found.length > 0]).toEqual([markup, expected.length > 0]);
    expect(new Set(found)).toEqual(new Set([...expected, ...found.filter((field) => field.includes('tiers'))]));
  }
  expect(problemsIn(() => openPreparedCatalog(prepared, { markup: '0.5' }))).not.toEqual([]);
});

test('BILL-12 a prepared catalog rejects a markup with an uneven default cache rate like the checked one', () => {
  const tiers = [{ aboveInputTokens: 1_000, rates: { input: '0.1', output: '3', cacheWrite5m: '0.1' } }];
  const model = text({
    protocols: ['messages'],
    upstreams: [upstream({ provider: 'anthropic', wire: 'anthropic_messages' })],
    prices: [price({ rates: { input: '0.075', output: '3' }, tiers })],
  });
  const sold = data([model], [provider(), provider({ id: 'anthropic', kind: 'anthropic' })]);
  const prepared = prepareCatalog(sold);
  for (const [markup, fields] of [
    ['1', []],
    ['1.15', ['prices[0].rates.cacheWrite5m']],
    ['1.00004', ['prices[0].rates.cacheWrite5m', 'prices[0].rates.cacheRead', 'prices[0].tiers[0].rates.cacheRead']],
    ['2', []],
  ] as const) {
    const expected = problemsIn(() => loadCatalog(sold, { markup }));
    expect([markup, expected.map(({ field }) => field)]).toEqual([markup, fields]);
    expect(problemsIn(() => openPreparedCatalog(prepared, { markup }))).toEqual(expected);
  }
});

const megapixel = { firstMegapixel: '0.014', extraMegapixel: '0.000000002', referenceMegapixel: '0.001' };

test('CAT-5 an invalid catalog cannot be prepared, with the problems of the checked one', () => {
  const invalid = data([text({ prices: [] }), text({ id: 'beta-1', upstreams: [] })]);
  const problems = problemsIn(() => prepareCatalog(invalid));
  expect(problems).not.toEqual([]);
  expect(problems).toEqual(problemsOf(invalid));
});
