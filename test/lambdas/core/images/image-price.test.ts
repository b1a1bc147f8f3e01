import { describe, expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { byFile, byUrl, counts, inPixels, modelOf, priceOf, shippedImage } from './image-samples.ts';

const usd = (text: string): bigint => parseUsd(text);

describe('IMG-8 price per image', () => {
  const plain = shippedImage('seedream-4-0');
  const stepped = shippedImage('seedream-5-5');
  const listed = shippedImage('gpt-image-2-fixed');

  test('BILL-5 the hold covers the requested images, and the charge those that arrived', () => {
    const money = priceOf(listed, { n: 4, size: inPixels(1_280, 720, '1K') });
    expect(money.holdPicos).toBe(usd('0.12'));
    for (const delivered of [1, 2, 3, 4]) {
      expect(money.chargeFor(counts({ delivered, made: 4 }))).toEqual({
        amountPicos: usd('0.03') * BigInt(delivered),
        prices: { image: usd('0.03'), inputImage: usd('0.03') },
        usage: { image: delivered },
        implausible: false,
      });
    }
    expect(money.expectsUsage).toBe(false);
  });

  test.for([
    ['1K', '0.03'],
    ['2K', '0.09'],
    ['4K', '0.24'],
  ] as const)('IMG-8 a size of %s costs %s USD', ([tier, price]) => {
    expect(formatUsd(priceOf(listed, { size: inPixels(16, 16, tier) }).holdPicos)).toBe(price);
    const named = priceOf(listed, { size: { kind: 'tier', tier, aspectRatio: '16:9' } });
    expect(formatUsd(named.holdPicos)).toBe(price);
  });

  test.for([
    ['a tier without a price', { kind: 'tier', tier: '1.5K', aspectRatio: undefined }],
    ['a size outside every tier', inPixels(1_280, 720)],
    ["the provider's own choice", { kind: 'vendor', pixelsMax: 100 }],
  ] as const)('IMG-8 %s is rejected and never free', ([, size]) => {
    expect(() => priceOf(listed, { size })).toThrow(expect.objectContaining({ code: 'invalid_size', param: 'size' }));
  });

  test.for([
    ['1920x1280', inPixels(1_920, 1_280), '0.02'],
    ['the largest size at the lower price', inPixels(1, 2_601_123), '0.02'],
    ['one pixel more', inPixels(1, 2_601_124), '0.035'],
    ['1.5K', { kind: 'tier', tier: '1.5K', aspectRatio: undefined }, '0.02'],
    ['2K', { kind: 'tier', tier: '2K', aspectRatio: '16:9' }, '0.035'],
  ] as const)('IMG-8 the price depends on the pixels: %s', ([, size, price]) => {
    expect(formatUsd(priceOf(stepped, { size }).holdPicos)).toBe(price);
  });

  test('IMG-8 a size above the largest size with a price is rejected', () => {
    const prices = [{ unit: 'image', rates: {}, byPixels: [{ maxPixels: 100, perImage: '1' }] }];
    expect(() => priceOf(modelOf({ prices }), { size: inPixels(11, 10) })).toThrow('no price for this size');
  });

  test('BILL-5 each reference is held and charged once if references have a price', () => {
    const money = priceOf(stepped, { size: inPixels(1_920, 1_280), references: byUrl(3) });
    expect(money.holdPicos).toBe(usd('0.02') + 3n * usd('0.008'));
    expect(money.chargeFor(counts())).toEqual({
      amountPicos: money.holdPicos,
      billedPicos: money.holdPicos,
      prices: { image: usd('0.02'), inputImage: usd('0.008') },
      usage: { image: 1, inputImage: 3 },
      implausible: false,
    });
    expect(priceOf(plain, { references: byUrl(3) }).holdPicos).toBe(usd('0.03'));
  });
});

// Prices: 0.03 USD for the first megapixel of an image, 0.015 USD for each further megapixel, and 0.015 USD for each
// megapixel of a reference.
describe('BILL-3 price per megapixel', () => {
  const flux = shippedImage('flux-2-pro');
  const extra = usd('0.000015');

  test.for([
    ['of a small image is the price of the first megapixel', inPixels(512, 512), 1, '0.03'],
    ['rounds up to whole megapixels', inPixels(1_024, 1_024), 1, '0.045'],
    ['covers the largest size', inPixels(2_048, 2_048), 1, '0.09'],
    ['covers all requested images', inPixels(1_024, 1_024), 3, '0.135'],
    ["covers the provider's own choice", { kind: 'vendor', pixelsMax: 4_194_304 }, 1, '0.09'],
  ] as const)('BILL-5 the hold %s', ([, size, n, price]) => {
    expect(formatUsd(priceOf(flux, { size, n }).holdPicos)).toBe(price);
  });

  test('BILL-5 each reference is held at the maximum size, even if its file is smaller', () => {
    const references = [...byUrl(1), byFile({ width: 8, height: 8 })];
    expect(formatUsd(priceOf(flux, { size: inPixels(512, 512), references }).holdPicos)).toBe('0.18');
  });

  test('BILL-3 the size that the provider reports is charged', () => {
    const money = priceOf(flux, { size: inPixels(1_024, 1_024), references: byUrl(2) });
    expect(money.chargeFor(counts({ milliMegapixels: { output: 1_050, reference: 2_100 } }))).toEqual({
      amountPicos: usd('0.03') + 50n * extra + 2_100n * extra,
      billedPicos: usd('0.03') + 50n * extra + 2_100n * extra,
      prices: { firstMegapixel: usd('0.03'), extraMilliMegapixel: extra, referenceMilliMegapixel: extra },
      usage: { firstMegapixel: 1, extraMilliMegapixel: 50, referenceMilliMegapixel: 2_100 },
      implausible: false,
    });
  });

  test('BILL-3 without a reported size the dimensions are charged, rounded up to 0.001 megapixel', () => {
    const references = [byFile({ width: 1_000, height: 1_001 }), ...byUrl(1)];
    const money = priceOf(flux, { size: inPixels(1_024, 1_024), references });
    expect(money.chargeFor(counts({ pixels: [1_000_001] })).usage).toEqual({
      firstMegapixel: 1,
      extraMilliMegapixel: 1,
      referenceMilliMegapixel: 1_001,
    });
    expect(money.chargeFor(counts({ pixels: [1_000_000] })).usage).toMatchObject({ extraMilliMegapixel: 0 });
    // The provider scales a huge file down before it counts the megapixels.
    const huge = priceOf(flux, { references: [byFile({ width: 9_000, height: 9_000 })] });
    expect(huge.chargeFor(counts()).usage).toMatchObject({ referenceMilliMegapixel: 5_000 });
  });

  test('IMG-7 megapixels of images that were not delivered are not charged', () => {
    const money = priceOf(flux, { size: inPixels(1_600, 1_000), n: 2 });
    const told = { output: 3_200, reference: 0 };
    const half = money.chargeFor(counts({ delivered: 1, made: 2, milliMegapixels: told }));
    expect(half).toMatchObject({ usage: { firstMegapixel: 1, extraMilliMegapixel: 600 }, implausible: false });
    expect(money.chargeFor(counts({ delivered: 2, made: 2, milliMegapixels: told })).amountPicos).toBe(
      2n * half.amountPicos,
    );
  });

  test.for([
    ['the image', { output: 2_001, reference: 1_000 }, '0.06', { extraMilliMegapixel: 1_001 }],
    ['the references', { output: 1_000, reference: 5_001 }, '0.105', { referenceMilliMegapixel: 5_001 }],
  ] as const)(
    'BILL-7 an implausible size of %s is charged at its bound and stored as reported',
    ([, milliMegapixels, price, kept]) => {
      const money = priceOf(flux, { size: inPixels(1_024, 1_024), references: byUrl(1) });
      const charge = money.chargeFor(counts({ milliMegapixels }));
      expect([formatUsd(charge.amountPicos), charge.implausible]).toEqual([price, true]);
      expect(charge.usage).toMatchObject(kept);
    },
  );

  test('BILL-7 a size equal to the held one is plausible', () => {
    const money = priceOf(flux, { size: inPixels(2_048, 2_048), references: byUrl(8) });
    const charge = money.chargeFor(counts({ milliMegapixels: { output: 5_000, reference: 40_000 } }));
    expect(charge).toMatchObject({ amountPicos: money.holdPicos, implausible: false });
  });
});

describe('OPS-3 the bill of the provider', () => {
  test('OPS-3 images by megapixel that did not reach the client are billed', () => {
    const money = priceOf(shippedImage('flux-2-pro'), { n: 1, size: inPixels(1_024, 1_024) });
    const came = counts({
      delivered: 1,
      made: 2,
      pixels: [1_000_000],
      milliMegapixels: { output: 2_000, reference: 0 },
    });
    expect(money.chargeFor(came)).toMatchObject({ amountPicos: usd('0.03'), billedPicos: usd('0.06') });
  });

  test('OPS-3 a flat price is billed by tokens if the entry has their rates', () => {
    const money = priceOf(shippedImage('gpt-image-2-fixed'), { size: inPixels(1_280, 720, '1K') });
    const used = {
      input: 10,
      cacheRead: 4,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: 0,
      reasoning: 0,
      imageOutput: 2_000,
    };
    const billedPicos = 10n * 5_000_000n + 4n * 1_250_000n + 2_000n * 30_000_000n;
    expect(money.chargeFor(counts({ usage: used }))).toMatchObject({ amountPicos: usd('0.03'), billedPicos });
    expect(money.chargeFor(counts())).toHaveProperty('billedPicos', undefined);
  });
});
