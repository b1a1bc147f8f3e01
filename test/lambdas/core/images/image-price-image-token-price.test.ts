import { describe, expect, test } from 'vitest';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { byUrl, counts, inPixels, modelOf, priceOf, recordOf, shippedImage, usage } from './image-samples.ts';

const free = shippedImage('gpt-image-2');
const banana = shippedImage('gemini-nano-banana-2.1');
/** Held prompt tokens of `a cat`: one per byte, and the overhead of a provider. */
const PROMPT = 5n + 256n;

describe('BILL-5 hold', () => {
  // By hand: 0.211 USD at 30 USD per million tokens is 7,033 tokens and a fraction.
  test.for([
    ['low', 201n],
    ['medium', 1_767n],
    ['high', 7_034n],
  ] as const)('BILL-5 the hold covers the image tokens of the quality: %s', ([quality, tokens]) => {
    expect(priceOf(free, { quality }).holdPicos).toBe(PROMPT * 5_000_000n + tokens * 30_000_000n);
  });

  test('BILL-5 the hold assumes the highest quality and size if the provider chooses them', () => {
    const size = { kind: 'vendor', pixelsMax: 1_536 * 1_024 } as const;
    expect(priceOf(free, { size }).holdPicos).toBe(PROMPT * 5_000_000n + 10_551n * 30_000_000n);
  });

  test.for([
    ['is not lower for a smaller image', inPixels(640, 1_024), 7_034n],
    ['grows with the area of a larger image', inPixels(3_840, 2_160), 55_641n],
  ] as const)('BILL-5 the hold %s', ([, size, tokens]) => {
    expect(priceOf(free, { size, quality: 'high' }).holdPicos).toBe(PROMPT * 5_000_000n + tokens * 30_000_000n);
  });

  test('BILL-5 the hold covers every image, reference and mask, and every byte of the prompt', () => {
    const mask = { mediaType: 'image/png', bytes: new Uint8Array(), width: 1, height: 1 } as const;
    const asked = { n: 10, references: byUrl(16), mask, quality: 'low', prompt: 'ü'.repeat(100) } as const;
    expect(priceOf(free, asked).holdPicos).toBe(456n * 5_000_000n + 17n * 6_500n * 8_000_000n + 2_010n * 30_000_000n);
  });

  test.for([
    ['1K', 1_120n],
    ['2K', 1_680n],
    ['4K', 2_520n],
  ] as const)("BILL-5 the hold for %s covers the tokens of the image and of the model's text", ([tier, tokens]) => {
    const money = priceOf(banana, { size: { kind: 'tier', tier, aspectRatio: undefined } });
    expect(money.holdPicos).toBe(PROMPT * 1_500_000n + 4_096n * 7_500_000n + tokens * 30_000_000n);
  });

  test("BILL-5 a provider's choice is held at the largest tier, a reference at its maximum tokens", () => {
    const money = priceOf(banana, { size: { kind: 'vendor', pixelsMax: 1 }, references: byUrl(2) });
    expect(money.holdPicos).toBe((PROMPT + 2n * 1_120n) * 1_500_000n + 4_096n * 7_500_000n + 2_520n * 30_000_000n);
  });

  const row = (changes: object) =>
    modelOf({ prices: [{ unit: '1M_tokens', rates: { textInput: '5', imageOutput: '30' }, ...changes }] });
  const onlyLow = { holdEstimatePerImage: { '1024x1024': { low: '0.006' } } };

  test.for([
    ['a quality without an estimate', row(onlyLow), { quality: 'high' }, 'quality'],
    ['a price without any estimate', row({}), {}, 'size'],
    ['a price with estimates of other sizes only', row({ holdEstimatePerImage: { '1x1': { low: '1' } } }), {}, 'size'],
    ['a tier without tokens', banana, { size: { kind: 'tier', tier: '1.5K', aspectRatio: undefined } }, 'size'],
    ['a size outside every tier', banana, { size: inPixels(1_024, 1_024) }, 'size'],
    ['a price without tiers', row({ imageTokensByTier: {} }), { size: { kind: 'vendor', pixelsMax: 1 } }, 'size'],
  ] as const)('IMG-8 %s is rejected', ([, model, asked, param]) => {
    expect(() => priceOf(model, asked)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  test('IMG-8 without a quality, the hold uses the only estimate', () => {
    expect(priceOf(row(onlyLow)).holdPicos).toBe(PROMPT * 5_000_000n + 201n * 30_000_000n);
  });
});

describe('BILL-3 charge', () => {
  const told = usage({ input: 40, cacheRead: 10, imageInput: 300, cachedImageInput: 20, imageOutput: 1_001 });

  test('BILL-11 each kind of token has its own price', () => {
    expect(priceOf(free, { references: byUrl(1) }).chargeFor(counts({ usage: told }))).toEqual({
      amountPicos: 40n * 5_000_000n + 10n * 1_250_000n + 300n * 8_000_000n + 20n * 2_000_000n + 1_001n * 30_000_000n,
      billedPicos: 40n * 5_000_000n + 10n * 1_250_000n + 300n * 8_000_000n + 20n * 2_000_000n + 1_001n * 30_000_000n,
      prices: {
        input: 5_000_000n,
        cacheRead: 1_250_000n,
        imageInput: 8_000_000n,
        cachedImageInput: 2_000_000n,
        output: 30_000_000n,
        imageOutput: 30_000_000n,
      },
      usage: { input: 40, cacheRead: 10, imageInput: 300, cachedImageInput: 20, imageOutput: 1_001, output: 0 },
      implausible: false,
    });
  });

  test('IMG-8 a kind of token without its own price is not free', () => {
    const { prices } = priceOf(banana, { size: { kind: 'tier', tier: '1K', aspectRatio: undefined } });
    expect(prices).toMatchObject({ imageInput: 1_500_000n, cachedImageInput: 1_500_000n, cacheRead: 1_500_000n });
    expect(priceOf(free).prices).toMatchObject({ output: 30_000_000n });
    const { amountPicos } = priceOf(free).chargeFor(counts({ usage: usage({ cacheWrite: 3, cacheWrite1h: 4 }) }));
    expect(amountPicos).toBe(7n * 5_000_000n);
  });

  test('BILL-11 thinking and text tokens besides the image are charged once', () => {
    const money = priceOf(banana, { size: { kind: 'tier', tier: '1K', aspectRatio: undefined } });
    const charge = money.chargeFor(counts({ usage: usage({ output: 10, reasoning: 90, imageOutput: 1_120 }) }));
    expect(charge.amountPicos).toBe(100n * 7_500_000n + 1_120n * 30_000_000n);
    expect(charge.usage).toMatchObject({ output: 100, imageOutput: 1_120 });
  });

  test('IMG-7 tokens of images that were not delivered are not charged', () => {
    const all = usage({ input: 10, imageOutput: 601 });
    const of = (delivered: number) =>
      priceOf(free, { n: 3, quality: 'low' }).chargeFor(counts({ usage: all, delivered, made: 3 }));
    expect(of(1).usage).toMatchObject({ input: 10, imageOutput: 200 });
    expect(of(1).amountPicos).toBe(10n * 5_000_000n + 200n * 30_000_000n);
    expect(of(3).usage).toMatchObject({ imageOutput: 601 });
  });

  test('BILL-10 without usage no tokens are charged, and usage is expected', () => {
    expect(priceOf(free).chargeFor(counts())).toMatchObject({ amountPicos: 0n, usage: {}, implausible: false });
    expect(priceOf(free).expectsUsage).toBe(true);
  });

  test('BILL-7 a count above the hold is charged as reported', () => {
    const money = priceOf(free, { quality: 'low' });
    const charge = money.chargeFor(counts({ usage: usage({ imageOutput: 804 }) }));
    expect(charge).toMatchObject({ amountPicos: 804n * 30_000_000n, implausible: false });
    expect(charge.amountPicos).toBeGreaterThan(money.holdPicos);
  });

  test.for([
    ['output tokens', { imageOutput: 804, output: 1 }, '0.02412'],
    ['prompt tokens', { input: 1_044, imageInput: 1 }, '0.00522'],
    ['image tokens', { imageOutput: 10 ** 12 }, '0.02412'],
  ] as const)(
    'BILL-7 an implausible count of %s is charged at its bound and stored as reported',
    ([, reported, price]) => {
      const charge = priceOf(free, { quality: 'low' }).chargeFor(counts({ usage: usage(reported) }));
      expect([formatUsd(charge.amountPicos), charge.implausible]).toEqual([price, true]);
      expect(recordOf(charge).usage).toMatchObject(reported);
    },
  );
});
