import type { Dimensions } from './image-wire.ts';
import { misfitOf, type SizeBounds } from './size-bounds.ts';

/** An image this near to a ratio passes for it. */
const ERROR_MAX = 0.02;
/** An exact ratio that costs more than this share of the pixels is not worth it. */
const EXACT_SHARE_MIN = 0.5;

const divisorOf = (one: number, other: number): number => (other === 0 ? one : divisorOf(other, one % other));

/**
 * The largest size of a ratio within the bounds: of exactly that ratio, unless edges of the right multiple leave none of a fair size;
 * then the largest that comes near. Undefined when there is none.
 */
export const largestOfRatio = (ratio: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const exact = exactOf(ratio, bounds);
  return exact && exact.width * exact.height >= bounds.maxPixels * EXACT_SHARE_MIN ? exact : nearOf(ratio, bounds);
};

/** Both edges are multiples of the step only when what they have in common is one. */
const exactOf = (ratio: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const divisor = divisorOf(ratio.width, ratio.height);
  const width = (ratio.width / divisor) * bounds.multipleOf;
  const height = (ratio.height / divisor) * bounds.multipleOf;
  const times = Math.floor(
    Math.min(bounds.maxEdge / Math.max(width, height), Math.sqrt(bounds.maxPixels / (width * height))),
  );
  const size = { width: width * times, height: height * times };
  return times > 0 && misfitOf(size, bounds) === undefined ? size : undefined;
};

const nearOf = (ratio: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const { multipleOf: step, minEdge, maxEdge } = bounds;
  let largest: Dimensions | undefined;
  for (let width = Math.ceil(minEdge / step) * step; width <= maxEdge; width += step) {
    const steps = (width * ratio.height) / ratio.width / step;
    for (const height of [Math.floor(steps) * step, Math.ceil(steps) * step]) {
      const size = { width, height };
      const isNear = Math.abs((width * ratio.height) / (height * ratio.width) - 1) <= ERROR_MAX;
      if (!isNear || misfitOf(size, bounds) !== undefined) continue;
      if (!largest || width * height > largest.width * largest.height) largest = size;
    }
  }
  return largest;
};
