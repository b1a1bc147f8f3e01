import { describe, expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { costWarnings } from '../../../../lambdas/core/pricing/cost-warnings.ts';
import { load, price, text } from '../catalog/sample-data.ts';

const NOW = Date.UTC(2026, 10, 20);
const rates = { input: '2', output: '10', cachedInput: '0.2', cacheWrite: '2.5' };

const warned = (changes: object, markup = '1') =>
  costWarnings(load([text({ prices: [price({ rates })], ...changes })], { markup }), NOW);

describe('OPS-5 catalog check', () => {
  test('OPS-5 a cache write that costs more than input is warned about', () => {
    expect(warned({})).toEqual([
      {
        id: 'alpha-1',
        field: 'prices[0].rates.cacheWrite',
        message: 'costs 2.5 USD per 1M tokens and is charged at 2 on chat_completions',
      },
    ]);
  });

  test('OPS-5 a markup that covers the cost ends the warning', () => {
    expect(warned({}, '1.24')).toHaveLength(1);
    expect(warned({}, '1.25')).toEqual([]);
  });

  test('OPS-5 each length tier is compared', () => {
    const tiers = [{ aboveInputTokens: 100, rates: { input: '4', cacheWrite: '6' } }];
    const fields = warned({ prices: [price({ rates: { ...rates, cacheWrite: '2' }, tiers })] }).map(
      ({ field }) => field,
    );
    expect(fields).toEqual(['prices[0].tiers[0].rates.cacheWrite']);
  });

  test('OPS-5 past prices and disabled entries are not compared', () => {
    expect(warned({ enabled: false })).toEqual([]);
    expect(warned({ prices: [price({ rates, until: '2026-11-19' })] })).toEqual([]);
  });

  test('OPS-5 the catalog warns about cache writes of OpenAI and cached input without a rate', () => {
    const found = costWarnings(loadCatalog(catalogData), NOW);
    expect(found).toContainEqual({
      id: 'gpt-6.2-sol',
      field: 'prices[0].rates.cacheWrite',
      message: 'costs 2.5 USD per 1M tokens and is charged at 2 on chat_completions',
    });
    expect(found.find(({ id }) => id === 'gemini-4-hydrogen')?.field).toBe('prices[0].rates.cachedInput');
    expect(found.filter(({ id }) => id.startsWith('claude'))).toEqual([]);
  });

  test('OPS-5 an image with a flat price warns unless the entry has the rates of its tokens', () => {
    const data = structuredClone(catalogData) as unknown as {
      companies: { openai: { models: readonly { id: string }[] } };
    };
    const model = data.companies.openai.models.find(({ id }) => id === 'gpt-image-2-fixed') as unknown as {
      prices: { billedRates?: unknown }[];
    };
    const fields = () =>
      costWarnings(loadCatalog(data), NOW)
        .filter(({ id }) => id === 'gpt-image-2-fixed')
        .map(({ field }) => field);
    expect(fields()).toEqual([]);
    delete model.prices[0]?.billedRates;
    expect(fields()).toEqual(['prices[0].billedRates']);
  });
});
