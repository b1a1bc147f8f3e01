import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TextPriceRow } from '../../../../lambdas/core/catalog/schema.ts';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import {
  affordableAnswerTokens,
  chargeFor,
  imageTokensOf,
  maximumPrice,
  pricesAt,
} from '../../../../lambdas/core/pricing/text-price.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 200, long: 20_000 });
const bounds = { promptTokens: 1_000, answerTokens: 2_000 };

/** A row with 1,120 tokens per 1K image, at four times the price of text. */
const row: TextPriceRow = {
  unit: '1M_tokens',
  rates: { input: 3n, output: 7n, imageOutput: 28n },
  tiers: [],
  imageTokensByTier: { '1K': 1_120, '4K': 2_000, '2K': 1_680 },
};
const plain: TextPriceRow = { unit: '1M_tokens', rates: { input: 3n, output: 7n }, tiers: [] };
const usage = (changes: Partial<TokenUsage> = {}): TokenUsage => ({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  ...changes,
});

describe('BILL-5 holds for output with images', () => {
  test.for([
    [undefined, 1_120],
    ['1K', 1_120],
    ['2K', 1_680],
    ['4K', 2_000],
    ['of unknown size', 2_000],
  ] as const)('BILL-5 an image of %s has %i tokens at most', ([tier, tokens]) => {
    expect(imageTokensOf(row, tier)).toBe(tokens);
  });

  test('BILL-5 the hold of a model without image output includes no image tokens', () => {
    expect(imageTokensOf(plain)).toBe(0);
    expect(imageTokensOf({ ...row, imageTokensByTier: {} }, '1K')).toBe(0);
  });

  test('BILL-5 the hold assumes that the output consists entirely of images', () => {
    expect(maximumPrice(row, 10, 2_000, 'one-rate', 1_120)).toBe(10n * 3n + 2_000n * 28n);
    expect(maximumPrice(plain, 10, 2_000)).toBe(10n * 3n + 2_000n * 7n);
  });

  test('BILL-5 a cap below the tokens of an image does not reduce its hold', () => {
    expect(maximumPrice(row, 0, 100, 'one-rate', 1_120)).toBe(1_120n * 28n);
  });

  test('BILL-6 affordable tokens are computed at the highest possible rate', () => {
    expect(affordableAnswerTokens(row, 10, 29n)).toBe(-1);
    expect(affordableAnswerTokens(row, 10, 30n + 27n)).toBe(0);
    expect(affordableAnswerTokens(row, 10, 30n + 1_120n * 28n)).toBe(1_120);
  });
});

describe('BILL-3 charges for output with images', () => {
  test('BILL-3 an image is charged and recorded at its own price', () => {
    const told = usage({ input: 10, output: 5, reasoning: 6, imageOutput: 1_120 });
    expect(chargeFor(row, told, bounds)).toEqual({
      amountPicos: 10n * 3n + 11n * 7n + 1_120n * 28n,
      billedPicos: 10n * 3n + 11n * 7n + 1_120n * 28n,
      prices: { input: 3n, output: 7n, imageOutput: 28n },
      usage: told,
      implausible: false,
    });
    expect(pricesAt(row, 10, 'cache-rates')).toMatchObject({ imageOutput: 28n });
  });

  test('BILL-3 an image without its own price is charged like text', () => {
    const charge = chargeFor(plain, usage({ imageOutput: 100 }), bounds);
    expect(charge).toMatchObject({ amountPicos: 700n, prices: { input: 3n, output: 7n } });
  });

  test('BILL-7 text and image tokens share one bound', () => {
    const told = usage({ imageOutput: 1_500, output: 501 });
    expect(chargeFor(row, told, bounds)).toMatchObject({
      amountPicos: 1_500n * 28n + 500n * 7n,
      implausible: true,
      usage: told,
    });
    expect(chargeFor(row, usage({ imageOutput: 1_500, output: 500 }), bounds).implausible).toBe(false);
  });

  test('BILL-12 prompt images in Messages are charged', () => {
    const told = usage({ input: 1, imageInput: 10, cacheRead: 100 });
    const { amountPicos } = chargeFor({ ...plain, rates: { input: 10n, output: 1n } }, told, bounds, 'cache-rates');
    expect(amountPicos).toBe(11n * 10n + 100n);
  });

  test('BILL-5 a charge never exceeds the hold for the same output', () => {
    const tokens = fc.nat({ max: 1_120 });
    fc.assert(
      fc.property(tokens, tokens, fc.nat({ max: 900 }), (imageOutput, output, input) => {
        const { amountPicos } = chargeFor(row, usage({ input, output, imageOutput }), {
          ...bounds,
          answerTokens: 9_999,
        });
        const most = maximumPrice(row, input, 1_120 + output, 'one-rate', 1_120);
        expect(amountPicos).toBeLessThanOrEqual(most);
      }),
      runs,
    );
  });
});
