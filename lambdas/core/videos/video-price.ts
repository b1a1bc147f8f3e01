import type { VideoModel } from '../catalog/schema.ts';
import type { Charge } from '../pricing/charge.ts';
import type { VideoJob, VideoTerms } from './video-job.ts';
import type { VideoAsk } from './video-wire.ts';

type PriceRow = VideoModel['prices'][number];
type Sized = Pick<VideoAsk, 'seconds' | 'width' | 'height'>;

export interface VideoMoney {
  readonly holdPicos: bigint;
  readonly terms: VideoTerms;
}

/**
 * Edge of the blocks in which encoders work, in pixels. The estimate rounds each edge up to whole blocks, and counts
 * one more frame because the first frame is at second 0.
 */
const BLOCK_PIXELS = 32;
/** Factor above the estimate from which a count of the provider is implausible. */
const IMPLAUSIBLE_TIMES = 2;
const FULL_HD_EDGE = 1_080;

/**
 * VID-6: prices a video by tokens, or by seconds at the rate of its size. Throws an Error for a size without a price,
 * which loading the catalog excludes.
 */
export const priceVideo = (row: PriceRow, { video, id }: VideoModel, asked: Sized): VideoMoney => {
  const { seconds, width, height } = asked;
  if (row.unit === 'second') {
    const ratePicos = row.rates.perSecond ?? row.bySize?.[`${width}x${height}`];
    if (ratePicos === undefined) throw new Error(`"${id}" has no price for ${width}x${height}`);
    return { holdPicos: ratePicos * BigInt(seconds), terms: { unit: 'second', ratePicos, unitsMax: seconds } };
  }
  if (!video.tokens) throw new Error(`"${id}" is priced by tokens and has no rule for them`);
  const { framesPerSecond, divisor } = video.tokens;
  const blocks = (pixels: number): number => Math.ceil(pixels / BLOCK_PIXELS) * BLOCK_PIXELS;
  const tokens = Math.ceil((blocks(width) * blocks(height) * (framesPerSecond * seconds + 1)) / divisor);
  const isFullHd = Math.min(width, height) >= FULL_HD_EDGE;
  const ratePicos = (isFullHd ? row.rates.output1080p : undefined) ?? row.rates.output;
  return {
    holdPicos: ratePicos * BigInt(tokens),
    terms: { unit: 'token', ratePicos, unitsMax: tokens * IMPLAUSIBLE_TIMES },
  };
};

/** Pico-USD by the name of the count. */
export const videoPrices = ({ unit, ratePicos }: VideoTerms): Readonly<Record<string, bigint>> =>
  unit === 'second' ? { second: ratePicos } : { output: ratePicos };

/** Returns the charge. If the provider should count tokens but did not, no tokens are charged (BILL-10). */
export const chargeForVideo = ({ terms, seconds, tokens }: Pick<VideoJob, 'terms' | 'seconds' | 'tokens'>): Charge => {
  const { unit, ratePicos, unitsMax } = terms;
  const prices = videoPrices(terms);
  if (unit === 'second') {
    return {
      amountPicos: ratePicos * BigInt(seconds),
      prices,
      usage: { second: seconds },
      implausible: false,
    };
  }
  return {
    amountPicos: ratePicos * BigInt(Math.min(tokens ?? 0, unitsMax)),
    prices,
    usage: tokens === undefined ? {} : { output: tokens },
    implausible: (tokens ?? 0) > unitsMax,
  };
};
