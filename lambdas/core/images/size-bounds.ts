import type { Dimensions } from './image-wire.ts';
import { distanceOf, nearestOf } from './size-text.ts';

/** Which sizes a model draws, in pixels. */
export interface SizeBounds {
  /** Of each edge. */
  readonly multipleOf: number;
  readonly minEdge: number;
  readonly maxEdge: number;
  /** Of both edges multiplied. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /** The longer edge over the shorter; infinite where any shape is drawn. */
  readonly maxRatio: number;
}

/** A suggestion is a round size also where the vendor takes odd ones. */
const SUGGESTED_STEP = 16;

export const ratioOf = ({ width, height }: Dimensions): number => Math.max(width, height) / Math.min(width, height);

const edgeFits = (edge: number, { multipleOf, minEdge, maxEdge }: SizeBounds): boolean =>
  edge % multipleOf === 0 && edge >= minEdge && edge <= maxEdge;

/** The first edge that breaks the bounds alone, or both where it is their area or shape; undefined when the size is drawn. */
export const misfitOf = (size: Dimensions, bounds: SizeBounds): 'width' | 'height' | 'both' | undefined => {
  if (!edgeFits(size.width, bounds)) return 'width';
  if (!edgeFits(size.height, bounds)) return 'height';
  const pixels = size.width * size.height;
  const fits = pixels >= bounds.minPixels && pixels <= bounds.maxPixels && ratioOf(size) <= bounds.maxRatio;
  return fits ? undefined : 'both';
};

/** In words, to stand behind "must be". */
export const describeBounds = (bounds: SizeBounds): string => {
  const { multipleOf, minEdge, maxEdge, minPixels, maxPixels, maxRatio } = bounds;
  const edges = [
    ...(multipleOf > 1 ? [`a multiple of ${multipleOf}`] : []),
    ...(minEdge > multipleOf ? [`at least ${minEdge}`] : []),
    `at most ${maxEdge}`,
  ].join(', ');
  const area = minPixels > minEdge ** 2 ? `${minPixels} to ${maxPixels} pixels` : `at most ${maxPixels} pixels`;
  const shape = Number.isFinite(maxRatio) ? `, the longer edge at most ${maxRatio} times the shorter` : '';
  return `<width>x<height>, each edge ${edges}, together ${area}${shape}`;
};

/** The size within the bounds that is least far away. Undefined only where the bounds leave no size at all. */
export const nearestWithin = (asked: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const { minEdge, maxEdge, minPixels, maxPixels, maxRatio } = bounds;
  const step = Math.max(bounds.multipleOf, SUGGESTED_STEP);
  const up = (edge: number): number => Math.ceil(edge / step) * step;
  const down = (edge: number): number => Math.floor(edge / step) * step;
  const sizes: Dimensions[] = [];
  for (let width = up(minEdge); width <= maxEdge; width += step) {
    const least = up(Math.max(minEdge, minPixels / width, width / maxRatio));
    const most = down(Math.min(maxEdge, maxPixels / width, width * maxRatio));
    if (least > most) continue;
    // As high as it was asked for, and as high as its shape makes it.
    for (const wanted of [asked.height, (width * asked.height) / asked.width]) {
      sizes.push({ width, height: Math.min(Math.max(Math.round(wanted / step) * step, least), most) });
    }
  }
  return nearestOf(sizes, (size) => distanceOf(size, asked));
};
