import type { ImageModel } from '../catalog/schema.ts';
import type { Charge } from '../pricing/charge.ts';
import { promptTokensOf, type TokenUsage } from '../pricing/charge.ts';
import type { ChosenSize } from './choose-size.ts';
import { deliveredUsage } from './delivered-share.ts';
import { pixelsOf } from './image-pixels.ts';
import type { ImageMoney } from './image-price.ts';
import type { ImageAsk } from './image-wire.ts';
import { unpriced } from './unpriced.ts';

type TokenRow = Extract<ImageModel['prices'][number], { readonly unit: '1M_tokens' }>;

/** What a reference costs at most where the entry does not say. */
const REFERENCE_TOKENS = 6_500;
/** What the model thinks and says beside its image, where it is sold by that as well. */
const TEXT_TOKENS = 4_096;
/** What a vendor adds around a prompt. */
const TOKENS_AROUND = 256;
/** The vendor's count is settled by; what is beyond this many times the estimate is no count of this request (BILL-7). */
const IMPLAUSIBLE_TIMES = 4;
const ESTIMATED_PIXELS = 1_024 * 1_024;

/** BILL-5: by the tokens of exactly this size and quality; the vendor's count settles. Throws the 400 of what has no price. */
export const priceByTokens = (row: TokenRow, model: ImageModel, ask: ImageAsk): ImageMoney => {
  const prices = pricesOf(row);
  const { n, references, mask } = ask;
  const files = references.length + (mask ? 1 : 0);
  const held = {
    input: Buffer.byteLength(ask.prompt) + TOKENS_AROUND,
    imageInput: files * (model.image.references.tokensMax ?? REFERENCE_TOKENS),
    output: row.rates.textOutput === undefined ? 0 : TEXT_TOKENS,
    imageOutput: n * imageTokensFor(row, model, ask),
  };
  const promptMax = (held.input + held.imageInput) * IMPLAUSIBLE_TIMES;
  const answerMax = (held.output + held.imageOutput) * IMPLAUSIBLE_TIMES;
  return {
    holdPicos: costOf(held, prices),
    prices,
    outputTokensMax: held.output + held.imageOutput,
    expectsUsage: model.reportsUsage,
    chargeFor: ({ usage, ...delivery }) =>
      chargeFor(usage && deliveredUsage(usage, delivery), prices, { promptMax, answerMax }),
  };
};

type Counts = Readonly<Record<string, number>>;
type Prices = Readonly<Record<string, bigint>>;

/** What has no price of its own costs as much as its kind without one does: nothing is free by an oversight (IMG-8). */
export const pricesOf = ({ rates }: TokenRow): Prices => {
  const { textInput, imageInput = textInput, imageOutput, textOutput = imageOutput } = rates;
  return {
    input: textInput,
    cacheRead: rates.cachedTextInput ?? textInput,
    imageInput,
    cachedImageInput: rates.cachedImageInput ?? imageInput,
    output: textOutput,
    imageOutput,
  };
};

const costOf = (counts: Counts, prices: Prices): bigint =>
  Object.entries(counts).reduce((sum, [name, count]) => sum + BigInt(count) * (prices[name] ?? 0n), 0n);

/** Of one image. */
const imageTokensFor = (row: TokenRow, model: ImageModel, { size, quality }: ImageAsk): number => {
  if (row.imageTokensByTier) {
    const tokens = tokensOfTier(row.imageTokensByTier, size);
    if (tokens === undefined) throw unpriced(model, 'size');
    return tokens;
  }
  const estimates = row.holdEstimatePerImage?.['1024x1024'] ?? {};
  const picos = quality === undefined ? largest(Object.values(estimates)) : estimates[quality];
  if (picos === undefined) throw unpriced(model, quality === undefined ? 'size' : 'quality');
  const tokens = Number(picos / row.rates.imageOutput) + 1;
  return Math.ceil(tokens * Math.max(1, pixelsOf(size) / ESTIMATED_PIXELS));
};

/** Where the vendor chooses, it may choose the dearest. */
const tokensOfTier = (tokens: Readonly<Record<string, number>>, size: ChosenSize): number | undefined =>
  size.kind === 'vendor' ? largest(Object.values(tokens)) : tokens[size.tier ?? ''];

const largest = <Amount extends number | bigint>(amounts: readonly Amount[]): Amount | undefined =>
  amounts.reduce<Amount | undefined>((most, each) => (most === undefined || each > most ? each : most), undefined);

/** No usage charges no tokens (BILL-10). Counts that cannot be true are charged at their bound, and kept as reported. */
const chargeFor = (
  usage: TokenUsage | undefined,
  prices: Prices,
  { promptMax, answerMax }: { readonly promptMax: number; readonly answerMax: number },
): Charge => {
  if (!usage) return { amountPicos: 0n, prices, usage: {}, implausible: false };
  const { cacheRead, imageInput = 0, cachedImageInput = 0, imageOutput = 0 } = usage;
  const told = promptTokensOf(usage);
  // Whatever else a vendor counts of a prompt has the price of its text.
  const prompt = { input: told - cacheRead - imageInput - cachedImageInput, cacheRead, imageInput, cachedImageInput };
  const answer = { imageOutput, output: usage.output + usage.reasoning };
  return {
    amountPicos: costOf(within(prompt, promptMax), prices) + costOf(within(answer, answerMax), prices),
    prices,
    usage: { ...prompt, ...answer },
    implausible: told > promptMax || answer.imageOutput + answer.output > answerMax,
  };
};

/** Up to the bound all together, in the order given. */
const within = (counts: Counts, most: number): Counts => {
  let left = most;
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => {
      const billed = Math.min(count, left);
      left -= billed;
      return [name, billed];
    }),
  );
};
