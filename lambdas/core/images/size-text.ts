import type { Dimensions } from './image-wire.ts';

const sizeForm = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;
const guessForm = /(\d{1,6})\D{1,3}(\d{1,6})/;
const stepForm = /^\s*(\d{1,2}(?:\.\d)?)\s*k\s*$/i;
/** No size is longer: a client's megabytes are not searched for one. */
const GUESSED_CHARACTERS_MAX = 32;
const STEP_PIXELS = 1_024;

/** `<width>x<height>` without leading zeros; undefined for anything else. */
export const parseSize = (text: string): Dimensions | undefined => toDimensions(sizeForm.exec(text));

export const toSizeText = ({ width, height }: Dimensions): string => `${width}x${height}`;

/** What a refused text may have meant, such as `1024 X 768` or `2k`: only ever to suggest the nearest size. */
export const guessSize = (text: string): Dimensions | undefined => {
  const start = text.slice(0, GUESSED_CHARACTERS_MAX);
  const edge = Number(stepForm.exec(start)?.[1] ?? 0) * STEP_PIXELS;
  return edge > 0 ? { width: edge, height: edge } : toDimensions(guessForm.exec(start));
};

const toDimensions = (found: RegExpExecArray | null): Dimensions | undefined => {
  const [, width, height] = found ?? [];
  return width === undefined || height === undefined
    ? undefined
    : { width: Math.max(1, Number(width)), height: Math.max(1, Number(height)) };
};

/** Of two sizes that are equally far, the one of the same shape is the better answer. */
const SHAPE_WEIGHT = 1.1;

/** How far apart two sizes are; twice as much is as far as half as much. */
export const distanceOf = (one: Dimensions, other: Dimensions): number => {
  const wider = Math.log(one.width / other.width);
  const higher = Math.log(one.height / other.height);
  return Math.abs(wider + higher) + SHAPE_WEIGHT * Math.abs(wider - higher);
};

export const nearestOf = <Item>(items: readonly Item[], distance: (item: Item) => number): Item | undefined => {
  let nearest: Item | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const far = distance(item);
    if (far >= least) continue;
    nearest = item;
    least = far;
  }
  return nearest;
};
