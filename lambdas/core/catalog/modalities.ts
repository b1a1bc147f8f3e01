import * as z from 'zod';

const pixels = z.int().positive();
const tier = z.enum(['1K', '1.5K', '2K', '4K']);
const tokens = z.int().positive();
const size = z.string().regex(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/);
const quality = z.enum(['low', 'medium', 'high']);

/** How a model treats the `size` field (IMG-2). */
const sizeRule = z.discriminatedUnion('mode', [
  /**
   * Any size within the bounds; `maxRatio` is the longer edge over the shorter. Without `maxEdge`, only the area limits
   * the edges.
   */
  z.strictObject({
    mode: z.literal('free'),
    multipleOf: pixels,
    minEdge: pixels.optional(),
    maxEdge: pixels.optional(),
    minPixels: pixels.optional(),
    maxPixels: pixels,
    maxRatio: z.number().min(1).optional(),
    auto: z.boolean().default(false),
    /**
     * Whether the gateway accepts any size up to `maxEdge` and `maxPixels`, and makes it from an image of the nearest
     * size within the bounds (IMG-9).
     */
    anySize: z.boolean().default(false),
  }),
  z.strictObject({ mode: z.literal('enum'), values: z.array(size).min(1), auto: z.boolean().default(false) }),
  /**
   * A closed list of sizes by tier. The tier also determines the quality. For a listed size outside `upstreamLimit`,
   * the provider generates the largest size of the same ratio within it, and the gateway resizes the image (IMG-9).
   */
  z.strictObject({
    mode: z.literal('enum_by_tier'),
    tiers: z.partialRecord(tier, z.array(size).min(1)),
    qualityByTier: z.partialRecord(tier, quality),
    upstreamLimit: z.strictObject({ multipleOf: pixels, maxEdge: pixels, maxPixels: pixels }),
  }),
  /** A tier by name, or a pixel size that is mapped to a tier. */
  z.strictObject({ mode: z.literal('tiers'), tiers: z.array(tier).min(1), maxEdge: pixels }),
  /** The field is accepted and ignored: the prompt describes the size. */
  z.strictObject({ mode: z.literal('ignored'), upstreamSize: z.string().min(1), upstreamQuality: quality }),
  /** A `size` field is an error; `actual` is the size of the generated images. */
  z.strictObject({ mode: z.literal('forbidden'), actual: tier }),
  /**
   * Any size with an area from `minPixels` to `maxPixels`, and the listed tier names. Without `maxPixels`, only the
   * edges limit the area.
   */
  z.strictObject({
    mode: z.literal('pixels'),
    minPixels: pixels,
    maxPixels: pixels.optional(),
    tiers: z.array(tier).default([]),
  }),
]);

export const imageRules = {
  capabilities: z.strictObject({
    /** Empty if the field is rejected (IMG-3). */
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
    /** Maximum number of images per request; 1 if the provider has no such field. */
    nMax: pixels,
    /** Reference images: how many, in which fields of the request, in which form. */
    references: z.strictObject({
      max: pixels,
      fields: z.array(z.string().min(1)).min(1),
      form: z.enum(['file', 'public_url', 'url_or_data_uri']),
      /** Maximum number of tokens of a reference image, for the hold of a model that is priced by tokens. */
      tokensMax: tokens.optional(),
    }),
    /** Form of the images if the request has no `response_format`: that of the provider. */
    responseFormatDefault: z.enum(['url', 'b64_json']).default('url'),
    /** Maximum length of a prompt, in characters. */
    promptCharactersMax: z.int().positive().default(32_000),
  }),
};

export const videoRules = z.strictObject({
  seconds: z.array(z.string().regex(/^[1-9]\d?$/)).min(1),
  sizes: z.array(size).min(1),
  /** Estimated tokens: width x height x framesPerSecond x seconds / divisor. The charge uses the provider's count. */
  tokens: z.strictObject({ framesPerSecond: pixels, divisor: pixels }).optional(),
  /** Whether a first frame may be given as `input_reference`. */
  inputReference: z.boolean(),
});

export const transcriptionRules = z.strictObject({
  /**
   * Maximum length of a recording, in seconds. The hold covers this length unless the length of the file can be
   * computed.
   */
  secondsMax: z.int().positive(),
  /** Audio tokens per second, for the hold of a model that is priced by tokens. */
  tokensPerSecond: z.int().positive().optional(),
  /** Maximum length of the transcript, in tokens. */
  outputTokensMax: tokens.optional(),
  /** Accepted file extensions. The provider also identifies the format by the extension. */
  formats: z.array(z.string().regex(/^[a-z0-9]+$/)).min(1),
});

export const speechRules = z.strictObject({
  voices: z.array(z.string().min(1)).min(1),
  formats: z.array(z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])).min(1),
  maxCharacters: pixels,
});
