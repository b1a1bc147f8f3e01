import type { TokenUsage } from '../pricing/charge.ts';

/** Images that a client gets, of those its vendor made: at least as many. */
export interface Delivery {
  readonly delivered: number;
  readonly made: number;
}

/** A vendor counts every image that it made: those that did not reach the client are not paid for (IMG-7). Rounded down. */
export const deliveredShare = (count: number, { delivered, made }: Delivery): number =>
  Math.floor((count * delivered) / made);

/** What the vendor read and said beside its images was for those that came as well. */
export const deliveredUsage = (usage: TokenUsage, delivery: Delivery): TokenUsage =>
  usage.imageOutput === undefined ? usage : { ...usage, imageOutput: deliveredShare(usage.imageOutput, delivery) };
