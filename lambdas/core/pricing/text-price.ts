import { cacheRatesOf } from '../catalog/cache-rates.ts';
import { ratesAt } from '../catalog/catalog.ts';
import type { TextPriceRow, TextRates } from '../catalog/schema.ts';
import type { Charge } from './charge.ts';
import { answerTokensOf, IMAGE_TIER_DEFAULT, promptTokensOf, type TokenUsage } from './charge.ts';
import { type CountPrices, priceOfCount, sumOfCounts } from './count-prices.ts';

/**
 * Pricing of prompt tokens. `one-rate`: every token has the same price, on all protocols except messages (BILL-18). The
 * others are for messages, where cache tokens have their own rates (BILL-12); the suffix is the longest cache write
 * that the request allows.
 */
export type PromptPricing = 'one-rate' | 'cache-rates' | 'cache-rates-5m' | 'cache-rates-1h';

/** Highest price of a prompt token. */
const promptRate = (rates: TextRates, pricing: PromptPricing): bigint => {
  if (pricing === 'one-rate') return rates.input;
  const { cacheWrite5m, cacheWrite1h, cacheRead } = cacheRatesOf(rates);
  const possible = [rates.input, cacheRead];
  if (pricing !== 'cache-rates') possible.push(cacheWrite5m);
  if (pricing === 'cache-rates-1h') possible.push(cacheWrite1h);
  return possible.reduce((dearest, rate) => (rate > dearest ? rate : dearest));
};

/**
 * Image tokens that the hold of an output covers: those of the largest image if the size is unknown; 0 for a model
 * without images.
 */
export const imageTokensOf = ({ imageTokensByTier = {} }: TextPriceRow, tier = IMAGE_TIER_DEFAULT): number =>
  imageTokensByTier[tier] ?? Math.max(0, ...Object.values(imageTokensByTier));

const imageRate = ({ imageOutput, output }: TextRates): bigint => imageOutput ?? output;

/** Highest price of an output token. */
const answerRate = ({ imageOutput = 0n, output }: TextRates): bigint => (imageOutput > output ? imageOutput : output);

/**
 * Highest price of a request in pico-USD. Every output token counts at the higher of the rates for text and images. The
 * price covers at least `imageTokens`, even if `answerTokens` is smaller.
 */
export const maximumPrice = (
  row: TextPriceRow,
  promptTokens: number,
  answerTokens: number,
  pricing: PromptPricing = 'one-rate',
  imageTokens = 0,
): bigint => {
  const rates = ratesAt(row, promptTokens);
  return (
    BigInt(promptTokens) * promptRate(rates, pricing) + BigInt(Math.max(answerTokens, imageTokens)) * answerRate(rates)
  );
};

/** Returns pico-USD per token by kind of token, for a prompt of this length. Every kind that a text can count has one. */
export const pricesAt = (
  row: TextPriceRow,
  promptTokens: number,
  pricing: PromptPricing,
): Readonly<Record<string, bigint>> => {
  const recorded = recordedPrices(row, promptTokens, pricing);
  const kinds = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning', ...Object.keys(recorded)];
  return Object.fromEntries(kinds.map((kind) => [kind, priceOfCount(kind, recorded)]));
};

/**
 * Returns the provider's rates with the markup, by kind of token. They include cache reads and writes that the gateway
 * charges as input (BILL-18). A rate that the entry does not state is that of the charge (BILL-12).
 */
export const billedRatesAt = (row: TextPriceRow, promptTokens: number, pricing: PromptPricing): CountPrices => {
  const { input, output, imageOutput = output, ...rates } = ratesAt(row, promptTokens);
  const defaults = pricing === 'one-rate' ? undefined : cacheRatesOf({ input, ...rates });
  const cacheWrite = rates.cacheWrite5m ?? rates.cacheWrite ?? defaults?.cacheWrite5m ?? input;
  return {
    input,
    cacheRead: rates.cacheRead ?? rates.cachedInput ?? defaults?.cacheRead ?? input,
    cacheWrite,
    cacheWrite1h: rates.cacheWrite1h ?? defaults?.cacheWrite1h ?? cacheWrite,
    output,
    imageOutput,
  };
};

/** Prices that a charge record stores: only those that `priceOfCount` does not derive from them. */
const recordedPrices = (
  row: TextPriceRow,
  promptTokens: number,
  pricing: PromptPricing,
): Readonly<Record<string, bigint>> => {
  const rates = ratesAt(row, promptTokens);
  const { cacheRead, cacheWrite5m, cacheWrite1h } = cacheRatesOf(rates);
  const { input, output, imageOutput } = rates;
  const own = { input, output, ...(imageOutput === undefined ? {} : { imageOutput }) };
  return pricing === 'one-rate' ? own : { ...own, cacheRead, cacheWrite: cacheWrite5m, cacheWrite1h };
};

/**
 * Returns the number of output tokens that an amount pays for after the prompt; negative if it does not pay for the
 * prompt.
 */
export const affordableAnswerTokens = (
  row: TextPriceRow,
  promptTokens: number,
  amountPicos: bigint,
  pricing: PromptPricing = 'one-rate',
): number => {
  const rates = ratesAt(row, promptTokens);
  const rate = answerRate(rates);
  const left = amountPicos - BigInt(promptTokens) * promptRate(rates, pricing);
  if (left < 0n) return -1;
  return rate === 0n ? Number.MAX_SAFE_INTEGER : Number(left / rate);
};

export interface TokenBounds {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

interface Priced {
  readonly tokens: number;
  readonly rate: bigint;
}

/**
 * Returns the actual usage times the prices at hold time, in integers without rounding (BILL-3). The rates depend on
 * the length of the whole prompt. Without usage, no tokens are charged (BILL-10).
 */
export const chargeFor = (
  row: TextPriceRow,
  usage: TokenUsage | undefined,
  bounds: TokenBounds,
  pricing: PromptPricing = 'one-rate',
): Charge => {
  const prompt = usage ? promptTokensOf(usage) : 0;
  const answer = usage ? answerTokensOf(usage) : 0;
  const promptLength = Math.min(prompt, bounds.promptTokens);
  const rates = ratesAt(row, promptLength);
  const { cacheRead, cacheWrite5m, cacheWrite1h } = cacheRatesOf(rates);
  const plain = pricing === 'one-rate';
  const parts: readonly Priced[] =
    plain || !usage
      ? [{ tokens: prompt, rate: rates.input }]
      : [
          { tokens: usage.cacheRead, rate: cacheRead },
          { tokens: prompt - usage.cacheRead - usage.cacheWrite - usage.cacheWrite1h, rate: rates.input },
          { tokens: usage.cacheWrite, rate: cacheWrite5m },
          { tokens: usage.cacheWrite1h, rate: cacheWrite1h },
        ];
  const imageTokens = usage?.imageOutput ?? 0;
  const answerParts: readonly Priced[] = [
    { tokens: imageTokens, rate: imageRate(rates) },
    { tokens: answer - imageTokens, rate: rates.output },
  ];
  return {
    amountPicos: priceOf(parts, bounds.promptTokens) + priceOf(answerParts, bounds.answerTokens),
    prices: recordedPrices(row, promptLength, pricing),
    usage: usage ? countsOf(usage) : {},
    implausible: prompt > bounds.promptTokens || answer > bounds.answerTokens,
    billedPicos: usage && sumOfCounts(usage, billedRatesAt(row, prompt, pricing)),
  };
};

const countsOf = ({ totalDiffers, ...counts }: TokenUsage): Charge['usage'] => counts;

/** Charges at most `tokensMax` tokens. Tokens above it are implausible and not charged (BILL-7). */
const priceOf = (parts: readonly Priced[], tokensMax: number): bigint => {
  let left = tokensMax;
  let sum = 0n;
  for (const { tokens, rate } of parts) {
    const billed = Math.min(tokens, left);
    left -= billed;
    sum += BigInt(billed) * rate;
  }
  return sum;
};
