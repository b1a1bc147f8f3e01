/** Charge of a request, and the facts that the charge record stores about it. */
export interface Charge {
  readonly amountPicos: bigint;
  /** Pico-USD per unit. */
  readonly prices: Readonly<Record<string, bigint>>;
  readonly usage: Readonly<Record<string, number>>;
  /** Whether an implausible count was charged at its bound (BILL-7). */
  readonly implausible: boolean;
  /**
   * Provider's bill times the markup, in pico-USD. Absent: equal to `amountPicos`. Undefined: the catalog does not state
   * it.
   */
  readonly billedPicos?: bigint | undefined;
}

/** Returns the provider's bill times the markup, in pico-USD; undefined if the catalog does not state it. */
export const billOf = (charge: Charge): bigint | undefined =>
  'billedPicos' in charge ? charge.billedPicos : charge.amountPicos;

/** Reason of a charge record whose response had no usage although it is charged by the provider's counts (BILL-10). */
export const USAGE_MISSING = 'usage_missing';

/**
 * Whether a charge has no count above 0. A response always has one, so usage that is all zeros counts as missing
 * (BILL-10).
 */
export const hasNoCount = (usage: Charge['usage']): boolean => Object.values(usage).every((count) => count === 0);

/** Token counts of a provider as disjoint numbers, whatever the provider's own fields include (BILL-11). */
export interface TokenUsage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  readonly input: number;
  readonly cacheRead: number;
  /** Tokens written to a cache for the provider's default time: five minutes at Anthropic. */
  readonly cacheWrite: number;
  /** Tokens written to a cache for an hour. */
  readonly cacheWrite1h: number;
  /** Output tokens without reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /* Tokens other than text, if the model has a price for them. The counts above then exclude them. */
  readonly imageInput?: number;
  readonly cachedImageInput?: number;
  readonly audioInput?: number;
  readonly imageOutput?: number;
  /** Whether the provider's own total is another number than the sum of its counts. */
  readonly totalDiffers?: true;
}

export const promptTokensOf = (usage: TokenUsage): number =>
  usage.input +
  usage.cacheRead +
  usage.cacheWrite +
  usage.cacheWrite1h +
  (usage.imageInput ?? 0) +
  (usage.cachedImageInput ?? 0) +
  (usage.audioInput ?? 0);

export const answerTokensOf = (usage: TokenUsage): number => usage.output + usage.reasoning + (usage.imageOutput ?? 0);

/** Size of models with size tiers, if the request names none. */
export const IMAGE_TIER_DEFAULT = '1K';
