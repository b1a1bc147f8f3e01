import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import { type Charge, promptTokensOf, type TokenUsage } from '../pricing/charge.ts';
import type { ChosenSize, ImageAsk } from './image-wire.ts';
import { pixelsOf } from './size-rules.ts';

type PriceRow = ImageModel['prices'][number];

type RowOf<Unit extends PriceRow['unit']> = Extract<PriceRow, { readonly unit: Unit }>;

/** Result of a request with at least one image. */
export interface DrawnCounts extends Delivery {
  /** Usage that the provider reported for all the images it made. */
  readonly usage: TokenUsage | undefined;
  /** Size that the provider reported for all the images it made, in thousandths of a megapixel. */
  readonly milliMegapixels: { readonly output: number; readonly reference: number } | undefined;
  /** Pixels of each delivered image. */
  readonly pixels: readonly number[];
}

export interface ImageMoney {
  readonly holdPicos: bigint;
  /** Pico-USD per unit. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** Output tokens that the hold covers, for providers that accept a limit. */
  readonly outputTokensMax?: number;
  /** Whether a response without usage raises an alarm (BILL-10). */
  readonly expectsUsage: boolean;
  /** Only delivered images are charged (IMG-7). */
  readonly chargeFor: (drawn: DrawnCounts) => Charge;
}

/**
 * Returns the price of this combination of size and quality (IMG-8). Throws the 400 of a combination without a price.
 */
export const priceImages = (row: PriceRow, model: ImageModel, ask: ImageAsk): ImageMoney => {
  switch (row.unit) {
    case '1M_tokens':
      return priceByTokens(row, model, ask);
    case 'image':
      return priceByImage(row, model, ask);
    case 'megapixel':
      return priceByMegapixel(row, ask);
  }
};

const priceByImage = (row: RowOf<'image'>, model: ImageModel, ask: ImageAsk): ImageMoney => {
  const image = imageRateFor(row, ask.size);
  if (image === undefined) throw unpriced(model, 'size');
  const inputImage = row.rates.perInputImage ?? 0n;
  const references = ask.references.length;
  const countsInputs = inputImage > 0n && references > 0;
  const prices = imagePrices(row, image);
  return {
    holdPicos: image * BigInt(ask.n) + inputImage * BigInt(references),
    prices,
    expectsUsage: false,
    chargeFor: ({ delivered, made, usage }) => ({
      amountPicos: image * BigInt(delivered) + inputImage * BigInt(references),
      prices,
      usage: { image: delivered, ...(countsInputs && { inputImage: references }) },
      implausible: false,
      billedPicos: row.billedRates
        ? usage && costOf(countsOf(usage), pricesOf({ rates: row.billedRates }))
        : image * BigInt(made) + inputImage * BigInt(references),
    }),
  };
};

/** Prices of images at a rate of the row, with that of reference images if they have one. */
export const imagePrices = ({ rates: { perInputImage = 0n } }: RowOf<'image'>, image: bigint): Prices => ({
  image,
  ...(perInputImage > 0n && { inputImage: perInputImage }),
});

/**
 * Returns the price of one image in pico-USD, without prompt and references. Without a quality, the highest one.
 * Undefined for a combination without a price.
 */
export const pricePerImage = (row: PriceRow, size: ChosenSize, quality: string | undefined): bigint | undefined => {
  switch (row.unit) {
    case 'image':
      return imageRateFor(row, size);
    case 'megapixel':
      return megapixelCharge(megapixelPrices(row), 1, milliMegapixelsOf(pixelsOf(size)), 0).amountPicos;
    case '1M_tokens':
      return tokenPricePerImage(row, size, quality);
  }
};

const tokenPricePerImage = (row: TokenRow, size: ChosenSize, quality: string | undefined): bigint | undefined => {
  if (row.imageTokensByTier) {
    const tokens = tokensOfTier(row.imageTokensByTier, size);
    return tokens === undefined ? undefined : BigInt(tokens) * row.rates.imageOutput;
  }
  const estimates = row.holdEstimatePerImage?.[size.kind === 'pixels' ? size.asked : ''] ?? {};
  return quality === undefined ? largest(Object.values(estimates)) : estimates[quality];
};

const imageRateFor = ({ rates, byTier, byPixels }: RowOf<'image'>, size: ChosenSize): bigint | undefined => {
  if (byTier) return size.kind === 'vendor' ? undefined : byTier[size.tier ?? ''];
  if (byPixels)
    return byPixels.find(({ maxPixels = Number.POSITIVE_INFINITY }) => pixelsOf(size) <= maxPixels)?.perImage;
  return rates.perImage;
};

const PIXELS_PER_MEGAPIXEL = 1_000_000;

const MILLI = 1_000n;

/**
 * Largest billed size of a reference image, in megapixels. The provider scales the image below 2048x2048 before it
 * reads the image, and may round the size up. Source:
 * https://help.bfl.ai/articles/1691577414-can-i-generate-different-aspect-ratios-compared-to-what-the-input-image-is
 */
const REFERENCE_MEGAPIXELS_MAX = 5;

const milliMegapixelsOf = (pixels: number): number => Math.ceil(pixels / (PIXELS_PER_MEGAPIXEL / 1_000));

/** Pico-USD per image of up to a megapixel, and per thousandth of a megapixel. */
export const megapixelPrices = ({ rates }: RowOf<'megapixel'>) => ({
  firstMegapixel: rates.firstMegapixel,
  extraMilliMegapixel: rates.extraMegapixel / MILLI,
  referenceMilliMegapixel: rates.referenceMegapixel / MILLI,
});

/** Charge of images whose output and references have these sizes in total, in thousandths of a megapixel. */
const megapixelCharge = (
  prices: ReturnType<typeof megapixelPrices>,
  images: number,
  output: number,
  reference: number,
): Omit<Charge, 'implausible'> => {
  const extra = Math.max(0, output - images * 1_000);
  return {
    amountPicos:
      prices.firstMegapixel * BigInt(images) +
      prices.extraMilliMegapixel * BigInt(extra) +
      prices.referenceMilliMegapixel * BigInt(reference),
    prices,
    usage: { firstMegapixel: images, extraMilliMegapixel: extra, referenceMilliMegapixel: reference },
  };
};

/**
 * Prices images by megapixel. The hold rounds up to whole megapixels, because the provider may. The charge uses the
 * reported size, or else the dimensions (BILL-3).
 */
const priceByMegapixel = (row: RowOf<'megapixel'>, ask: ImageAsk): ImageMoney => {
  const prices = megapixelPrices(row);
  const toCharge = (images: number, output: number, reference: number) =>
    megapixelCharge(prices, images, output, reference);
  const outputMaxEach = Math.ceil(pixelsOf(ask.size) / PIXELS_PER_MEGAPIXEL) * 1_000;
  const referenceMax = ask.references.length * REFERENCE_MEGAPIXELS_MAX * 1_000;
  return {
    holdPicos: toCharge(ask.n, outputMaxEach * ask.n, referenceMax).amountPicos,
    prices,
    expectsUsage: false,
    chargeFor: ({ pixels, milliMegapixels, ...delivery }) => {
      const measured = pixels.reduce((sum, each) => sum + milliMegapixelsOf(each), 0);
      const output = milliMegapixels ? deliveredShare(milliMegapixels.output, delivery) : measured;
      const reference = milliMegapixels?.reference ?? referencesOf(ask);
      const most = outputMaxEach * delivery.delivered;
      const { amountPicos } = toCharge(delivery.delivered, Math.min(output, most), Math.min(reference, referenceMax));
      const reported = toCharge(delivery.delivered, output, reference);
      const whole = milliMegapixels?.output ?? Math.ceil((measured * delivery.made) / delivery.delivered);
      const billedPicos = toCharge(delivery.made, whole, reference).amountPicos;
      return { ...reported, amountPicos, implausible: output > most || reference > referenceMax, billedPicos };
    },
  };
};

/**
 * Billed size of the reference files, in thousandths of a megapixel. References by URL count as 0, because their
 * dimensions are unknown.
 */
const referencesOf = ({ references }: ImageAsk): number =>
  references.reduce((sum, reference) => {
    if (reference.kind === 'url') return sum;
    const { width, height } = reference.file;
    return sum + Math.min(milliMegapixelsOf(width * height), REFERENCE_MEGAPIXELS_MAX * 1_000);
  }, 0);

type TokenRow = Extract<ImageModel['prices'][number], { readonly unit: '1M_tokens' }>;

/** Largest cost of a reference image in tokens, if the catalog entry does not state it. */
const REFERENCE_TOKENS = 6_500;

/** Tokens for thinking and text besides the image, if the entry has a price for text output. */
const TEXT_TOKENS = 4_096;

/** Tokens that a provider adds around a prompt. */
const TOKENS_AROUND = 256;

/** Factor above the estimate from which a count of the provider is implausible (BILL-7). */
const IMPLAUSIBLE_TIMES = 4;

const ESTIMATED_PIXELS = 1_024 * 1_024;

/**
 * Prices images by token (BILL-5). The hold covers the tokens of this size and quality; the charge uses the provider's
 * count. Throws the 400 of a combination without a price.
 */
const priceByTokens = (row: TokenRow, model: ImageModel, ask: ImageAsk): ImageMoney => {
  const prices = pricesOf(row);
  const { n, references, mask = ask.remoteMask } = ask;
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
      withBill(chargeFor(usage && deliveredUsage(usage, delivery), prices, { promptMax, answerMax }), usage, prices),
  };
};

type Counts = Readonly<Record<string, number>>;

type Prices = Readonly<Record<string, bigint>>;

/**
 * Returns the prices. A kind of token without its own price costs as much as the kind it belongs to, so that no token
 * is free by mistake (IMG-8).
 */
export const pricesOf = ({ rates }: Pick<TokenRow, 'rates'>): Prices => {
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

/** Tokens of one image. */
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

/** Returns the image tokens of a tier. If the provider chooses the size, the tier with the most tokens counts. */
const tokensOfTier = (tokens: Readonly<Record<string, number>>, size: ChosenSize): number | undefined =>
  size.kind === 'vendor' ? largest(Object.values(tokens)) : tokens[size.tier ?? ''];

const largest = <Amount extends number | bigint>(amounts: readonly Amount[]): Amount | undefined =>
  amounts.reduce<Amount | undefined>((most, each) => (most === undefined || each > most ? each : most), undefined);

/** Splits the counts into kinds with a price. All other prompt tokens are charged as text. */
const splitOf = (usage: TokenUsage) => {
  const { cacheRead, imageInput = 0, cachedImageInput = 0, imageOutput = 0 } = usage;
  const input = promptTokensOf(usage) - cacheRead - imageInput - cachedImageInput;
  return {
    prompt: { input, cacheRead, imageInput, cachedImageInput },
    answer: { imageOutput, output: usage.output + usage.reasoning },
  };
};

const countsOf = (usage: TokenUsage): Counts => {
  const { prompt, answer } = splitOf(usage);
  return { ...prompt, ...answer };
};

/** Adds the provider's bill, which includes images that did not reach the client. */
const withBill = (charge: Charge, usage: TokenUsage | undefined, prices: Prices): Charge => ({
  ...charge,
  billedPicos: usage && costOf(countsOf(usage), prices),
});

/**
 * Returns the charge. Without usage, no tokens are charged (BILL-10). Implausible counts are charged at their bound and
 * stored as reported.
 */
const chargeFor = (
  usage: TokenUsage | undefined,
  prices: Prices,
  { promptMax, answerMax }: { readonly promptMax: number; readonly answerMax: number },
): Charge => {
  if (!usage) return { amountPicos: 0n, prices, usage: {}, implausible: false };
  const told = promptTokensOf(usage);
  const { prompt, answer } = splitOf(usage);
  return {
    amountPicos: costOf(within(prompt, promptMax), prices) + costOf(within(answer, answerMax), prices),
    prices,
    usage: { ...prompt, ...answer },
    implausible: told > promptMax || answer.imageOutput + answer.output > answerMax,
  };
};

/** Limits the sum of the counts to `most`, in the given order. */
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

/** Number of images for the client, and number of images that the provider made, which is at least as large. */
interface Delivery {
  readonly delivered: number;
  readonly made: number;
}

/**
 * Returns the share of the delivered images, rounded down. The provider counts every image; images that did not reach
 * the client are not charged (IMG-7).
 */
const deliveredShare = (count: number, { delivered, made }: Delivery): number => Math.floor((count * delivered) / made);

/**
 * Returns the usage with the delivered images' share of the image tokens. Prompt tokens and text output count in full.
 */
export const deliveredUsage = (usage: TokenUsage, delivery: Delivery): TokenUsage =>
  usage.imageOutput === undefined ? usage : { ...usage, imageOutput: deliveredShare(usage.imageOutput, delivery) };

/** Returns the error for a combination without a price (IMG-8). */
const unpriced = ({ id }: ImageModel, param: 'size' | 'quality'): GatewayError => {
  const message = `${param}: "${id}" has no price for this ${param}. Choose another.`;
  return param === 'size' ? new GatewayError('invalid_size', message, { param }) : invalidRequest(param, message);
};
