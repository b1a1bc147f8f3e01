import * as z from 'zod';

const pixels = z.int().positive();
const tier = z.enum(['1K', '1.5K', '2K', '4K']);
const tokens = z.int().positive();
const size = z.string().regex(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/);
const quality = z.enum(['low', 'medium', 'high']);

/** How a model treats the `size` field (IMG-2). */
const sizeRule = z.discriminatedUnion('mode', [
  /** Any size within the bounds; `maxRatio` is the longer edge over the shorter. */
  z.strictObject({
    mode: z.literal('free'),
    multipleOf: pixels,
    minEdge: pixels.optional(),
    maxEdge: pixels,
    minPixels: pixels.optional(),
    maxPixels: pixels,
    maxRatio: z.number().min(1).optional(),
    auto: z.boolean().default(false),
  }),
  z.strictObject({ mode: z.literal('enum'), values: z.array(size).min(1), auto: z.boolean().default(false) }),
  /** A closed list by tier, the tier fixing quality; what the vendor cannot render is scaled into `upstreamLimit` (IMG-9). */
  z.strictObject({
    mode: z.literal('enum_by_tier'),
    tiers: z.partialRecord(tier, z.array(size).min(1)),
    qualityByTier: z.partialRecord(tier, quality),
    upstreamLimit: z.strictObject({ multipleOf: pixels, maxEdge: pixels, maxPixels: pixels }),
  }),
  /** A tier by name, or a pixel size that is mapped to its tier. */
  z.strictObject({ mode: z.literal('tiers'), tiers: z.array(tier).min(1), maxEdge: pixels }),
  /** Accepted and not used: the prompt describes the size. */
  z.strictObject({ mode: z.literal('ignored'), upstreamSize: z.string().min(1), upstreamQuality: quality }),
  /** A size field is an error; `actual` is what the model draws. */
  z.strictObject({ mode: z.literal('forbidden'), actual: tier }),
  /** Any size between two areas; without `maxPixels` the vendor decides. Tiers may be named as well. */
  z.strictObject({
    mode: z.literal('pixels'),
    minPixels: pixels,
    maxPixels: pixels.optional(),
    tiers: z.array(tier).default([]),
  }),
]);

export const imageRules = {
  capabilities: z.strictObject({
    /** Empty where the field is refused (IMG-3). */
    quality: z.array(quality),
    mask: z.boolean(),
    aspectRatio: z.boolean(),
    widthHeight: z.boolean(),
    /** Accepted values of sequential_image_generation. */
    sequential: z.array(z.literal('disabled')).default([]),
  }),
  image: z.strictObject({
    family: z.enum([
      'three_variant_free',
      'three_variant_fixed',
      'three_variant_described',
      'token_priced',
      'compact_gen1',
      'compact_gen2',
      'compact_gen2_pro',
      'fixed_size_single',
      'seedream',
      'flux',
    ]),
    size: sizeRule,
    /** Most images per request; 1 where the vendor has no such field. */
    nMax: pixels,
    /** Reference images: how many, in which fields of the request, in which form. */
    references: z.strictObject({
      max: pixels,
      fields: z.array(z.string().min(1)).min(1),
      form: z.enum(['file', 'public_url', 'url_or_data_uri']),
      /** The most tokens one of them costs, where a model is sold by tokens; for holds. */
      tokensMax: tokens.optional(),
    }),
    /** Longest prompt, in characters. */
    promptCharactersMax: z.int().positive().default(32_000),
  }),
};

export const videoRules = z.strictObject({
  seconds: z.array(z.string().regex(/^[1-9]\d?$/)).min(1),
  sizes: z.array(size).min(1),
  /** Billed tokens = width x height x framesPerSecond x seconds / divisor: the estimate; the vendor's count settles. */
  tokens: z.strictObject({ framesPerSecond: pixels, divisor: pixels }).optional(),
  /** Whether a first frame may be given as `input_reference`. */
  inputReference: z.boolean(),
});

export const transcriptionRules = z.strictObject({
  /**
   * Longest recording that the provider accepts, in seconds. The length of a file is unknown, so the hold covers this.
   */
  secondsMax: z.int().positive(),
  /** Audio tokens of one second, where the model is sold by tokens; for holds. */
  tokensPerSecond: z.int().positive().optional(),
  /** The longest text it writes, in tokens. */
  outputTokensMax: tokens.optional(),
  /** By the ending of the file's name; the vendor goes by it as well. */
  formats: z.array(z.string().regex(/^[a-z0-9]+$/)).min(1),
});

export const speechRules = z.strictObject({
  voices: z.array(z.string().min(1)).min(1),
  formats: z.array(z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])).min(1),
  maxCharacters: pixels,
});
