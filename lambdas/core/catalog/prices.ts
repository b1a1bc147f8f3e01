import * as z from 'zod';
import { PICOS_PER_USD, parseUsd } from '../money/usd.ts';
import { type PriceUnit, sharesIn, unitSizes } from './price-units.ts';

const parseOrExplain = (text: string): bigint | string => {
  try {
    return parseUsd(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const usdPer = (unit: PriceUnit, markup: bigint) =>
  z.string().transform((text, context): bigint => {
    const refuse = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const listed = parseOrExplain(text);
    if (typeof listed === 'string') return refuse(listed);
    if (listed < 0n) return refuse(`a price is not negative: "${text}"`);
    const whole = PICOS_PER_USD * unitSizes[unit];
    const product = listed * markup;
    if (product % (whole * sharesIn(unit)) === 0n) return product / whole;
    return refuse(`"${text}" times the markup is not a whole number of pico-USD for one of "${unit}"`);
  });

const span = { from: z.iso.date().optional(), until: z.iso.date().optional(), note: z.string().min(1).optional() };
const counts = z.record(z.string(), z.int().positive());

/** Requires exactly one of the named ways to price, so that no combination is free or priced twice. */
const exactlyOne = (names: string, found: readonly unknown[]) =>
  found.filter((way) => way !== undefined).length === 1 ? undefined : `needs exactly one of ${names}`;

/**
 * `aboveInputTokens` counts every prompt token, including cached and cache-writing ones. The tier applies to the whole
 * request.
 */
export const textPrice = (markup: bigint) => {
  const usd = usdPer('1M_tokens', markup);
  const rates = z.strictObject({
    input: usd,
    output: usd,
    cachedInput: usd.optional(),
    cacheWrite: usd.optional(),
    cacheWrite5m: usd.optional(),
    cacheWrite1h: usd.optional(),
    cacheRead: usd.optional(),
    /** Price of images in the output. */
    imageOutput: usd.optional(),
  });
  const tier = z.strictObject({ aboveInputTokens: z.int().positive(), rates: rates.partial() });
  return z
    .strictObject({
      unit: z.literal('1M_tokens'),
      ...span,
      rates,
      tiers: z.array(tier).default([]),
      imageTokensByTier: counts.optional(),
    })
    .superRefine((row, context) => {
      let before = { aboveInputTokens: 0, input: row.rates.input, output: row.rates.output };
      for (const [index, { aboveInputTokens, rates: changed }] of row.tiers.entries()) {
        const here = {
          aboveInputTokens,
          input: changed.input ?? row.rates.input,
          output: changed.output ?? row.rates.output,
        };
        const refuse = (field: string, message: string) =>
          context.addIssue({ code: 'custom', path: ['tiers', index, field], message });
        if (aboveInputTokens <= before.aboveInputTokens)
          refuse('aboveInputTokens', `${aboveInputTokens} is not above the previous tier's ${before.aboveInputTokens}`);
        // The hold is computed at the rates of the longest possible prompt, so a longer prompt must not be cheaper.
        else if (here.input < before.input || here.output < before.output)
          refuse('rates', 'a longer prompt must not cost less per token');
        before = here;
      }
    })
    .transform((row) => ({
      ...row,
      tiers: row.tiers.map(({ aboveInputTokens, rates: changed }) => ({
        aboveInputTokens,
        rates: { ...row.rates, ...changed },
      })),
    }));
};

export const imagePrice = (markup: bigint) => {
  const usd = usdPer('1M_tokens', markup);
  const perImage = usdPer('image', markup);
  const perMegapixel = usdPer('megapixel', markup);
  const tokenRates = z.strictObject({
    textInput: usd,
    cachedTextInput: usd.optional(),
    imageInput: usd.optional(),
    cachedImageInput: usd.optional(),
    textOutput: usd.optional(),
    imageOutput: usd,
  });
  return z.discriminatedUnion('unit', [
    z
      .strictObject({
        unit: z.literal('1M_tokens'),
        ...span,
        rates: tokenRates,
        imageTokensByTier: counts.optional(),
        /** Pico-USD per image by size and quality, for holds only. The charge uses tokens. */
        holdEstimatePerImage: z.record(z.string(), z.record(z.string(), perImage)).optional(),
      })
      .superRefine(({ rates, holdEstimatePerImage }, context) => {
        if (!holdEstimatePerImage || rates.imageOutput > 0n) return;
        const message = 'is converted to tokens at the rate imageOutput, which is 0. Replace it with imageTokensByTier';
        context.addIssue({ code: 'custom', path: ['holdEstimatePerImage'], message });
      }),
    z
      .strictObject({
        unit: z.literal('image'),
        ...span,
        rates: z.strictObject({ perImage: perImage.optional(), perInputImage: perImage.optional() }),
        byTier: z.record(z.string(), perImage).optional(),
        byPixels: z
          .array(z.strictObject({ maxPixels: z.int().positive().optional(), perImage }))
          .min(1)
          .optional(),
        /** Rates per million tokens that the provider bills, if they differ from the price. */
        billedRates: tokenRates.optional(),
      })
      .superRefine((row, context) => {
        const message = exactlyOne('rates.perImage, byTier, byPixels', [row.rates.perImage, row.byTier, row.byPixels]);
        if (message) context.addIssue({ code: 'custom', message });
      }),
    z.strictObject({
      unit: z.literal('megapixel'),
      ...span,
      rates: z.strictObject({
        firstMegapixel: perMegapixel,
        extraMegapixel: perMegapixel,
        referenceMegapixel: perMegapixel,
      }),
    }),
  ]);
};

export const videoPrice = (markup: bigint) => {
  const usd = usdPer('1M_tokens', markup);
  const perSecond = usdPer('second', markup);
  return z.discriminatedUnion('unit', [
    z.strictObject({
      unit: z.literal('1M_tokens'),
      ...span,
      rates: z.strictObject({ output: usd, output1080p: usd.optional(), outputNoAudio: usd.optional() }),
    }),
    z
      .strictObject({
        unit: z.literal('second'),
        ...span,
        rates: z.strictObject({ perSecond: perSecond.optional() }),
        bySize: z.record(z.string(), perSecond).optional(),
      })
      .superRefine((row, context) => {
        const message = exactlyOne('rates.perSecond, bySize', [row.rates.perSecond, row.bySize]);
        if (message) context.addIssue({ code: 'custom', message });
      }),
  ]);
};

export const transcriptionPrice = (markup: bigint) => {
  const usd = usdPer('1M_tokens', markup);
  return z.discriminatedUnion('unit', [
    z.strictObject({
      unit: z.literal('1M_tokens'),
      ...span,
      rates: z.strictObject({ textInput: usd, audioInput: usd, textOutput: usd }),
    }),
    z.strictObject({
      unit: z.literal('audio_minute'),
      ...span,
      rates: z.strictObject({ perMinute: usdPer('audio_minute', markup) }),
    }),
  ]);
};

/** Price of speech by characters, and of embeddings and moderations by tokens. It has one rate, `input`. */
export const inputPrice = <const Unit extends '1M_tokens' | '1M_characters'>(unit: Unit, markup: bigint) =>
  z.strictObject({ unit: z.literal(unit), ...span, rates: z.strictObject({ input: usdPer(unit, markup) }) });
