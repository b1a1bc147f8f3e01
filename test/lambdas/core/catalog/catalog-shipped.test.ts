import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { type Catalog, ratesAt } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TextModel, TextRates } from '../../../../lambdas/core/catalog/schema.ts';
import { at } from './sample-data.ts';

const catalog: Catalog = loadCatalog(catalogData);

const textModel = (id: string, day: string): TextModel => {
  const model = catalog.find(id, at(day));
  if (model?.kind !== 'text') throw new Error(`${id} is not a text model`);
  return model;
};

const rates = (id: string, day: string, promptTokens = 1): TextRates =>
  ratesAt(catalog.priceRow(textModel(id, day), at(day)), promptTokens);

test('CAT-5 the catalog has at least 62 models, four of them disabled', () => {
  expect(catalog.entries.length).toBeGreaterThanOrEqual(62);
  const off = catalog.entries.filter(({ enabled }) => !enabled).map(({ id }) => id);
  expect(off).toEqual(expect.arrayContaining(['gemini-2.5-flash-image', 'gpt-image-1-mini', 'sora-2', 'sora-2-pro']));
  expect(catalog.list(at('2026-11-20')).length).toBeGreaterThanOrEqual(58);
});

test('BILL-3 dated prices change with the UTC day', () => {
  expect(rates('gemini-4-argon', '2026-11-30').input).toBe(2_000_000n);
  expect(rates('gemini-4-argon', '2026-12-01').input).toBe(4_000_000n);
  expect(rates('gemini-3.8-flash', '2026-12-31').input).toBe(750_000n);
  expect(rates('gemini-3.8-flash', '2027-01-01').input).toBe(1_500_000n);
});

test('BILL-3 the promotion of gpt-5.6-sol ends after 2026-11-21, in every tier', () => {
  expect(rates('gpt-5.6-sol', '2026-11-21')).toMatchObject({ input: 4_000_000n, output: 20_000_000n });
  expect(rates('gpt-5.6-sol', '2026-11-21', 272_001)).toEqual({
    input: 8_000_000n,
    cachedInput: 800_000n,
    cacheWrite: 10_000_000n,
    output: 30_000_000n,
  });
  expect(rates('gpt-5.6-sol', '2026-11-22')).toMatchObject({ input: 5_000_000n, output: 30_000_000n });
  expect(rates('gpt-5.6-sol', '2026-11-22', 272_001)).toMatchObject({ input: 10_000_000n, output: 45_000_000n });
});

test('BILL-5 long prompts of claude-haiku-5-5 cost five times as much, including cache rates', () => {
  const short = rates('claude-haiku-5-5', '2026-11-20', 100_000);
  const long = rates('claude-haiku-5-5', '2026-11-20', 100_001);
  for (const name of ['input', 'output', 'cacheWrite5m', 'cacheWrite1h', 'cacheRead'] as const)
    expect(long[name]).toBe((short[name] ?? 0n) * 5n);
});

test.each([
  ['claude-opus-5-5', [4_000_000n, 5_000_000n, 8_000_000n, 200_000n, 20_000_000n]],
  ['claude-sonnet-5-5', [2_000_000n, 2_500_000n, 4_000_000n, 100_000n, 10_000_000n]],
  ['claude-haiku-4-5', [1_000_000n, 1_250_000n, 2_000_000n, 100_000n, 5_000_000n]],
])('BILL-12 the catalog has the cache rates of %s', (id, [input, cacheWrite5m, cacheWrite1h, cacheRead, output]) => {
  expect(rates(id, '2026-11-20')).toMatchObject({ input, cacheWrite5m, cacheWrite1h, cacheRead, output });
});

test.each(['1', '1.25', '2', '0.1', '1.2'])(
  'BILL-3 every price is a whole number of pico-USD with a markup of %s',
  (markup) => {
    expect(loadCatalog(catalogData, { markup }).entries).toHaveLength(catalog.entries.length);
  },
);

test('CAT-4 gpt-4.1-mini is shut down on 2027-01-14 and its message names gpt-6-luna', () => {
  expect(catalog.find('gpt-4.1-mini', at('2027-01-13'))).toBeDefined();
  expect(catalog.find('gpt-4.1-mini', at('2027-01-14'))).toBeUndefined();
  expect(catalog.explainMissing('gpt-4.1-mini', at('2027-01-14'))).toContain('Use "gpt-6-luna" instead.');
});

test('MSG-3 the thinking alias resolves to its model', () => {
  const aliased = catalog.entries.filter((model) => model.kind === 'text' && model.thinking?.suffix !== undefined);
  expect(aliased.length).toBeGreaterThanOrEqual(8);
  for (const { id } of aliased) expect(catalog.find(`${id}-thinking`, at('2026-11-20'))?.id).toBe(id);
});

test('CAT-5 every provider has the base URL of its public API, and the relay is disabled', () => {
  const urls = Object.fromEntries(catalog.providers.map(({ id, baseUrl }) => [id, baseUrl]));
  expect(urls).toEqual({
    openai: 'https://api.openai.com/v1',
    anthropic: 'https://api.anthropic.com',
    google: 'https://generativelanguage.googleapis.com',
    byteplus: 'https://ark.ap-southeast.bytepluses.com/api/v3',
    bfl: 'https://api.bfl.ai',
    relay: null,
  });
  expect(catalog.provider('relay')).toMatchObject({ kind: 'openai-compatible', enabled: false });
});
