import { describe, expect, test } from 'vitest';
import { cacheRatesOf } from '../../../../lambdas/core/catalog/cache-rates.ts';
import { ratesAt } from '../../../../lambdas/core/catalog/catalog.ts';
import type { PriceRow, TextPriceRow } from '../../../../lambdas/core/catalog/schema.ts';
import {
  anthropic,
  at,
  data,
  fieldsOf,
  image,
  load,
  price,
  problemsOf,
  provider,
  text,
  upstream,
} from './sample-data.ts';

const now = at('2026-11-20');

const textRow = (row: unknown, markup = '1', day = now): TextPriceRow => {
  const catalog = load([text({ prices: [row] })], { markup });
  const model = catalog.find('alpha-1', day);
  if (model?.kind !== 'text') throw new Error('expected a text model');
  return catalog.priceRow(model, day);
};

const imageRow = (row: unknown, markup = '1'): PriceRow => {
  const catalog = load([image({ prices: [row] })], { markup });
  const model = catalog.find('paint-1', now);
  if (!model) throw new Error('expected a model');
  return catalog.priceRow(model, now);
};

describe('BILL-3 price conversion', () => {
  test('BILL-3 a price per million tokens becomes whole pico-USD per token', () => {
    const rates = { input: '0.4', output: '0.000001', cachedInput: '0', cacheWrite: '10' };
    expect(textRow(price({ rates })).rates).toEqual({
      input: 400_000n,
      output: 1n,
      cachedInput: 0n,
      cacheWrite: 10_000_000n,
    });
  });

  test('BILL-3 a price that is not whole pico-USD per token fails at its field', () => {
    const rates = { input: '0.0000001', output: '40' };
    expect(fieldsOf(text({ prices: [price({ rates })] }))).toEqual(['alpha-1  prices[0].rates.input']);
    const tiers = [{ aboveInputTokens: 5, rates: { output: '0.0000015' } }];
    expect(fieldsOf(text({ prices: [price({ tiers })] }))).toEqual(['alpha-1  prices[0].tiers[0].rates.output']);
  });

  test.each(['-1', '1e3', '', '.5', '1,5', '0.0000000000001', 'NaN', 8])('BILL-3 %j is not a price', (input) => {
    expect(fieldsOf(text({ prices: [price({ rates: { input, output: '1' } })] }))).toEqual([
      'alpha-1  prices[0].rates.input',
    ]);
  });

  test('BILL-3 the markup multiplies every price exactly', () => {
    const tiers = [{ aboveInputTokens: 5, rates: { input: '16' } }];
    const row = textRow(price({ tiers }), '1.25');
    expect(row.rates).toMatchObject({ input: 10_000_000n, output: 50_000_000n });
    expect(row.tiers[0]?.rates).toMatchObject({ input: 20_000_000n, output: 50_000_000n });
  });

  test('BILL-3 a price that is not whole after the markup fails', () => {
    const prices = [price({ rates: { input: '0.000001', output: '1' } })];
    const problems = problemsOf(data([text({ prices })]), { markup: '1.5' });
    expect(problems.map(({ id, field }) => `${id}  ${field}`)).toEqual(['alpha-1  prices[0].rates.input']);
  });

  test.each(['0', '-1', 'x', '1e1'])('BILL-3 a markup of "%s" is rejected', (markup) => {
    expect(problemsOf(data([text()]), { markup })).toMatchObject([{ id: 'catalog', field: 'markup' }]);
  });

  test('BILL-3 a megapixel price must be divisible by 1000', () => {
    const row = (firstMegapixel: string) => ({
      unit: 'megapixel',
      rates: { firstMegapixel, extraMegapixel: '0.015', referenceMegapixel: '0.015' },
    });
    expect(imageRow(row('0.03')).rates).toMatchObject({ firstMegapixel: 30_000_000_000n });
    expect(fieldsOf(image({ prices: [row('0.000000000001')] }))).toEqual(['paint-1  prices[0].rates.firstMegapixel']);
  });
});

describe('BILL-5 prompt length tiers', () => {
  const tiers = [
    { aboveInputTokens: 100, rates: { input: '16' } },
    { aboveInputTokens: 200, rates: { input: '32', output: '80' } },
  ];

  test('BILL-5 a tier applies to the whole request from one token above its bound', () => {
    const row = textRow(price({ tiers }));
    const at = (tokens: number) => ratesAt(row, tokens);
    expect(at(0)).toMatchObject({ input: 8_000_000n, output: 40_000_000n });
    expect(at(100)).toMatchObject({ input: 8_000_000n, output: 40_000_000n });
    expect(at(101)).toMatchObject({ input: 16_000_000n, output: 40_000_000n });
    expect(at(200)).toMatchObject({ input: 16_000_000n });
    expect(at(201)).toMatchObject({ input: 32_000_000n, output: 80_000_000n });
  });

  test('CAT-5 a tier not above the previous one fails', () => {
    const [first, second] = tiers;
    expect(fieldsOf(text({ prices: [price({ tiers: [second, first] })] }))).toEqual([
      'alpha-1  prices[0].tiers[1].aboveInputTokens',
    ]);
    expect(fieldsOf(text({ prices: [price({ tiers: [first, first] })] }))).toEqual([
      'alpha-1  prices[0].tiers[1].aboveInputTokens',
    ]);
    expect(fieldsOf(text({ prices: [price({ tiers: [{ aboveInputTokens: 0, rates: {} }] })] }))).toContain(
      'alpha-1  prices[0].tiers[0].aboveInputTokens',
    );
  });

  test('CAT-5 a tier cheaper than the one before fails, because holds would be too small', () => {
    const cheaper = { aboveInputTokens: 1_000, rates: { input: '0.000001' } };
    expect(fieldsOf(text({ prices: [price({ tiers: [cheaper] })] }))).toEqual(['alpha-1  prices[0].tiers[0].rates']);
  });
});

describe('CAT-5 price days', () => {
  const rows = (...spans: readonly object[]) => text({ prices: spans.map((span) => price({ ...span })) });

  test.each([
    ['a gap', '2026-12-02'],
    ['an overlap', '2026-11-30'],
  ])('CAT-5 %s between rows fails', (_, from) => {
    expect(fieldsOf(rows({ until: '2026-11-30' }, { from }))).toEqual(['alpha-1  prices[1].from']);
  });

  test('CAT-5 a later row fails if it follows an open-ended row or has no start date', () => {
    expect(fieldsOf(rows({}, { from: '2026-12-01' }))).toEqual(['alpha-1  prices[1].from']);
    expect(fieldsOf(rows({ until: '2026-11-30' }, {}))).toEqual(['alpha-1  prices[1].from']);
  });

  test('CAT-5 a row that ends before it starts fails, and a row of one day is valid', () => {
    expect(fieldsOf(rows({ from: '2026-12-02', until: '2026-12-01' }))).toEqual(['alpha-1  prices[0].until']);
    expect(load([rows({ until: '2028-02-28' }, { from: '2028-02-29', until: '2028-02-29' })]).entries).toHaveLength(1);
  });

  test.each(['2026-02-29', '2026-13-01', '2026-1-1', '20261130', '2026-11-31', 5])('CAT-5 %j is not a day', (until) => {
    expect(fieldsOf(rows({ until }))).toEqual(['alpha-1  prices[0].until']);
  });

  test('BILL-3 the row of the UTC day applies from its first to its last millisecond', () => {
    const dear = { rates: { input: '16', output: '80' } };
    const catalog = load([rows({ until: '2026-11-30' }, { from: '2026-12-01', ...dear })]);
    const inputAt = (instant: string) => {
      const model = catalog.find('alpha-1', Date.parse(instant));
      return model?.kind === 'text' ? catalog.priceRow(model, Date.parse(instant)).rates.input : undefined;
    };
    expect(inputAt('2020-01-01T00:00:00Z')).toBe(8_000_000n);
    expect(inputAt('2026-11-30T23:59:59.999Z')).toBe(8_000_000n);
    expect(inputAt('2026-12-01T00:00:00.000Z')).toBe(16_000_000n);
    expect(inputAt('2030-01-01T00:00:00Z')).toBe(16_000_000n);
  });

  test('BILL-3 a model is not sold on a day without a price', () => {
    const catalog = load([rows({ from: '2026-11-10', until: '2026-11-30' })]);
    expect(catalog.find('alpha-1', at('2026-11-09'))).toBeUndefined();
    expect(catalog.find('alpha-1', at('2026-11-30'))).toBeDefined();
    expect(catalog.find('alpha-1', at('2026-12-01'))).toBeUndefined();
    expect(() => catalog.priceRow(catalog.entries[0]!, at('2026-12-01'))).toThrow(RangeError);
  });
});

describe('BILL-12 cache rates of Messages', () => {
  const native = (rates: object) =>
    text({
      protocols: ['messages'],
      upstreams: [upstream({ provider: 'anthropic', wire: 'anthropic_messages' })],
      prices: [price({ rates: { output: '1', ...rates } })],
    });

  test('BILL-12 default cache rates are 1.25, 2 and 0.1 times input, unless stated', () => {
    const plain = textRow(price({ rates: { input: '4', output: '20' } })).rates;
    expect(cacheRatesOf(plain)).toEqual({ cacheWrite5m: 5_000_000n, cacheWrite1h: 8_000_000n, cacheRead: 400_000n });
    const own = { input: '4', output: '20', cacheWrite5m: '6', cacheWrite1h: '7', cacheRead: '0.2' };
    expect(cacheRatesOf(textRow(price({ rates: own })).rates)).toEqual({
      cacheWrite5m: 6_000_000n,
      cacheWrite1h: 7_000_000n,
      cacheRead: 200_000n,
    });
  });

  test('BILL-12 a default rate that is not whole pico-USD fails at the field of the omitted rate', () => {
    expect(fieldsOf(native({ input: '0.000002' }))).toEqual([
      'alpha-1  prices[0].rates.cacheWrite5m',
      'alpha-1  prices[0].rates.cacheRead',
    ]);
    expect(problemsOf(data([native({ input: 'x' })], [provider(), anthropic]))).toHaveLength(1);
    expect(load([native({ input: '0.000002', cacheWrite5m: '1', cacheRead: '1' })]).entries).toHaveLength(1);
  });
});

describe('IMG-8 image prices', () => {
  test('IMG-8 a row that prices an image in no way or in two ways fails', () => {
    const row = (extra: object) => image({ prices: [{ unit: 'image', rates: {}, ...extra }] });
    expect(fieldsOf(row({}))).toEqual(['paint-1  prices[0]']);
    expect(fieldsOf(row({ rates: { perImage: '1' }, byTier: { '1K': '1' } }))).toEqual(['paint-1  prices[0]']);
    expect(load([row({ byTier: { '1K': '1' } })]).entries).toHaveLength(1);
  });

  test('IMG-8 an estimate in USD fails if the price of image tokens is 0', () => {
    const row = (changes: object) =>
      image({ prices: [{ unit: '1M_tokens', rates: { textInput: '5', imageOutput: '0' }, ...changes }] });
    const estimate = { holdEstimatePerImage: { '1024x1024': { low: '0.006' } } };
    expect(fieldsOf(row(estimate))).toEqual(['paint-1  prices[0].holdEstimatePerImage']);
    expect(load([row({ imageTokensByTier: { '1K': 10 } })]).entries).toHaveLength(1);
  });

  test('IMG-8 price tables are converted with the markup', () => {
    const byPixels = [{ maxPixels: 2_601_123, perImage: '0.02' }, { perImage: '0.035' }];
    const row = imageRow({ unit: 'image', rates: { perInputImage: '0.008' }, byPixels }, '2');
    expect(row).toMatchObject({ byPixels: [{ perImage: 40_000_000_000n }, { perImage: 70_000_000_000n }] });
  });
});
