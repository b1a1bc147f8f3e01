import type { ImageModel } from '../catalog/schema.ts';
import type { Charge, TokenUsage } from '../pricing/charge.ts';
import type { ChosenSize } from './choose-size.ts';
import { type Delivery, deliveredShare } from './delivered-share.ts';
import { pixelsOf } from './image-pixels.ts';
import { priceByTokens } from './image-token-price.ts';
import type { ImageAsk } from './image-wire.ts';
import { unpriced } from './unpriced.ts';

type PriceRow = ImageModel['prices'][number];
type RowOf<Unit extends PriceRow['unit']> = Extract<PriceRow, { readonly unit: Unit }>;

/** What came of a request: at least one image. */
export interface DrawnCounts extends Delivery {
  /** As the vendor reported it, of all the images it made. */
  readonly usage: TokenUsage | undefined;
  /** The same. */
  readonly milliMegapixels: { readonly output: number; readonly reference: number } | undefined;
  /** Pixels of each delivered image. */
  readonly pixels: readonly number[];
}

export interface ImageMoney {
  readonly holdPicos: bigint;
  /** Pico-USD for one of what is counted. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** The tokens that were held for as the answer, where the vendor can be told so. */
  readonly outputTokensMax?: number;
  /** An answer without usage is an alarm (BILL-10). */
  readonly expectsUsage: boolean;
  /** Only delivered images are charged (IMG-7). */
  readonly chargeFor: (drawn: DrawnCounts) => Charge;
}

/** IMG-8: the price of exactly this combination. Throws the 400 of one that has none. */
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
  const prices = { image, ...(countsInputs && { inputImage }) };
  return {
    holdPicos: image * BigInt(ask.n) + inputImage * BigInt(references),
    prices,
    expectsUsage: false,
    chargeFor: ({ delivered }) => ({
      amountPicos: image * BigInt(delivered) + inputImage * BigInt(references),
      prices,
      usage: { image: delivered, ...(countsInputs && { inputImage: references }) },
      implausible: false,
    }),
  };
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
 * What a reference may count at most: the vendor makes it smaller than 2048x2048 before it reads it, and may round up.
 * Source: https://help.bfl.ai/articles/1691577414-can-i-generate-different-aspect-ratios-compared-to-what-the-input-image-is
 */
const REFERENCE_MEGAPIXELS_MAX = 5;

const milliMegapixelsOf = (pixels: number): number => Math.ceil(pixels / (PIXELS_PER_MEGAPIXEL / 1_000));

/** Whole megapixels are held for, since the vendor may round up; what it reports is charged, else the dimensions (BILL-3). */
const priceByMegapixel = ({ rates }: RowOf<'megapixel'>, ask: ImageAsk): ImageMoney => {
  const prices = {
    firstMegapixel: rates.firstMegapixel,
    extraMilliMegapixel: rates.extraMegapixel / MILLI,
    referenceMilliMegapixel: rates.referenceMegapixel / MILLI,
  };
  const toCharge = (images: number, output: number, reference: number): Omit<Charge, 'implausible'> => {
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
      const told = toCharge(delivery.delivered, output, reference);
      return { ...told, amountPicos, implausible: output > most || reference > referenceMax };
    },
  };
};

/** Of those whose dimensions are known. */
const referencesOf = ({ references }: ImageAsk): number =>
  references.reduce((sum, reference) => {
    if (reference.kind === 'url') return sum;
    const { width, height } = reference.file;
    return sum + Math.min(milliMegapixelsOf(width * height), REFERENCE_MEGAPIXELS_MAX * 1_000);
  }, 0);
