import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { IMAGE_TIER_DEFAULT } from '../pricing/charge.ts';
import type { ChosenSize, Dimensions, ImageTier } from './image-wire.ts';

type SizeRule = ImageModel['image']['size'];

type RuleOf<Mode extends SizeRule['mode']> = Extract<SizeRule, { readonly mode: Mode }>;

/**
 * Largest image of a provider that chooses the size itself. Source:
 * https://platform.openai.com/docs/api-reference/images/create, `size`.
 */
export const AUTO_PIXELS_MAX = 1_536 * 1_024;

const tiersUpwards: readonly ImageTier[] = ['1K', '1.5K', '2K', '4K'];

interface Refused {
  /** Text that follows "must be". */
  readonly allowed: string;
  readonly nearest: string | undefined;
  readonly param?: string;
}

/** Returns an error with the allowed sizes, and the nearest one if it is known (GEN-4). */
export const invalidSize = ({ id }: ImageModel, { allowed, nearest, param = 'size' }: Refused): GatewayError => {
  const advice = nearest === undefined ? '' : ` The nearest is ${nearest}.`;
  return new GatewayError('invalid_size', `${param}: must be ${allowed} with "${id}".${advice}`, { param });
};

export const inPixels = (size: Dimensions, tier?: ImageTier, asked = toSizeText(size)): ChosenSize => ({
  kind: 'pixels',
  width: size.width,
  height: size.height,
  asked,
  tier,
});

const vendorsChoice: ChosenSize = { kind: 'vendor', pixelsMax: AUTO_PIXELS_MAX };

/** Chooses a size in pixels within bounds. `alternatives` are other accepted texts, shown in the error. */
export const chooseWithin = (
  model: ImageModel,
  size: string,
  bounds: SizeBounds,
  alternatives: readonly string[] = [],
): ChosenSize => {
  const parsed = parseSize(size);
  if (parsed && misfitOf(parsed, bounds) === undefined) return inPixels(parsed);
  const guess = parsed ?? guessSize(size);
  const nearest = guess && nearestWithin(guess, bounds);
  const allowed = [...alternatives, describeBounds(bounds)].join(' or ');
  throw invalidSize(model, { allowed, nearest: nearest && toSizeText(nearest) });
};

const nearestIn = (values: readonly string[], size: string): string | undefined => {
  const guess = guessSize(size);
  return (
    guess && nearestOf(values, (value) => distanceOf(parseSize(value) ?? { width: Number.MAX_VALUE, height: 1 }, guess))
  );
};

export const chooseListed = (model: ImageModel, rule: RuleOf<'enum'>, size: string | undefined): ChosenSize => {
  const { values, auto } = rule;
  if (auto && (size === undefined || size === 'auto')) return vendorsChoice;
  const wanted = size ?? values[0] ?? '';
  const parsed = values.includes(wanted) ? parseSize(wanted) : undefined;
  if (parsed) return inPixels(parsed);
  const allowed = `one of ${[...(auto ? ['auto'] : []), ...values].join(', ')}`;
  throw invalidSize(model, { allowed, nearest: nearestIn(values, wanted) });
};

/** Chooses a size of the list (IMG-9). If the provider cannot generate it, uses the largest size of the same ratio. */
export const chooseByTier = (model: ImageModel, rule: RuleOf<'enum_by_tier'>, size: string | undefined): ChosenSize => {
  const listed = tiersUpwards.flatMap((tier) => (rule.tiers[tier] ?? []).map((value) => ({ tier, value })));
  const found = size === undefined ? listed[0] : listed.find(({ value }) => value === size);
  const asked = found && parseSize(found.value);
  const drawn = asked && drawnAs(asked, rule);
  if (found && drawn) return inPixels(drawn, found.tier, found.value);
  const values = listed.map(({ value }) => value);
  throw invalidSize(model, { allowed: `one of ${values.join(', ')}`, nearest: nearestIn(values, size ?? '') });
};

const drawnAs = (asked: Dimensions, { upstreamLimit }: RuleOf<'enum_by_tier'>): Dimensions | undefined => {
  const bounds = { ...upstreamLimit, minEdge: 1, minPixels: 1, maxRatio: Number.POSITIVE_INFINITY };
  return misfitOf(asked, bounds) === undefined ? asked : largestOfRatio(asked, bounds);
};

/** https://ai.google.dev/gemini-api/docs/image-generation, `imageConfig.aspectRatio`. */
const vendorRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/**
 * Maximum ratio of the longer edge to the shorter. For a larger ratio, the provider would return an image of another
 * shape.
 */
const RATIO_MAX = 3;

/** Longest edge of each tier. A larger size counts as the largest tier. */
const stepEdges: readonly (readonly [ImageTier, number])[] = [
  ['1K', 1_536],
  ['2K', 2_560],
];

/**
 * Returns the tier that `size` names. If `size` is in pixels, returns its tier and the provider's nearest ratio. Without
 * a size, or for `auto`, returns the default tier.
 */
export const chooseStep = (model: ImageModel, rule: RuleOf<'tiers'>, size: string | undefined): ChosenSize => {
  const { tiers, maxEdge } = rule;
  if (size === undefined || size === 'auto') {
    return toStep(tiers.includes(IMAGE_TIER_DEFAULT) ? IMAGE_TIER_DEFAULT : (tiers[0] ?? IMAGE_TIER_DEFAULT));
  }
  const named = tiers.find((tier) => tier === size);
  if (named) return toStep(named);
  const parsed = parseSize(size);
  if (parsed && ratioOf(parsed) <= RATIO_MAX) {
    const longer = Math.max(parsed.width, parsed.height);
    const tier = stepEdges.find(([, edge]) => longer <= edge)?.[0] ?? '4K';
    if (longer <= maxEdge && tiers.includes(tier)) return toStep(tier, nearestRatio(parsed));
  }
  const pixels = `<width>x<height> of edges up to ${maxEdge}, the longer at most ${RATIO_MAX} times the shorter`;
  throw invalidSize(model, { allowed: `one of ${tiers.join(', ')}, or ${pixels},`, nearest: nearestStep(tiers, size) });
};

const toStep = (tier: ImageTier, aspectRatio?: string): ChosenSize => ({ kind: 'tier', tier, aspectRatio });

const nearestRatio = (size: Dimensions): string | undefined =>
  nearestOf(vendorRatios, (ratio) => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log((size.width * height) / (size.height * width)));
  });

const nearestStep = (tiers: readonly ImageTier[], size: string): ImageTier | undefined => {
  const guess = guessSize(size);
  if (!guess) return undefined;
  const longer = Math.max(guess.width, guess.height);
  return nearestOf(tiers, (tier) =>
    Math.abs(Math.log(longer / Math.sqrt(pixelsOf({ kind: 'tier', tier, aspectRatio: undefined })))),
  );
};

/** Chooses a size up to 4096x4096 by its area. Source: https://docs.byteplus.com/en/docs/ModelArk/1541523, `size`. */
export const chooseByArea = (model: ImageModel, rule: RuleOf<'pixels'>, size: string | undefined): ChosenSize => {
  const named = rule.tiers.find((tier) => tier === size);
  if (named) return toStep(named);
  return chooseWithin(model, size ?? AREA_DEFAULT, areaBounds(rule), rule.tiers);
};

const AREA_DEFAULT = '2048x2048';

const AREA_EDGE_MAX = 4_096;

const areaBounds = ({ minPixels, maxPixels = AREA_EDGE_MAX ** 2 }: RuleOf<'pixels'>): SizeBounds => ({
  multipleOf: 1,
  minEdge: 1,
  maxEdge: AREA_EDGE_MAX,
  minPixels,
  maxPixels,
  maxRatio: 16,
});

/** Sizes that a model generates, in pixels. */
export interface SizeBounds {
  /** Divisor of each edge. */
  readonly multipleOf: number;
  readonly minEdge: number;
  readonly maxEdge: number;
  /** Bounds of the product of both edges. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /** Longer edge divided by the shorter; infinite if any shape is allowed. */
  readonly maxRatio: number;
}

const ratioOf = ({ width, height }: Dimensions): number => Math.max(width, height) / Math.min(width, height);

const edgeFits = (edge: number, { multipleOf, minEdge, maxEdge }: SizeBounds): boolean =>
  edge % multipleOf === 0 && edge >= minEdge && edge <= maxEdge;

/** Returns the edge that breaks the bounds, or `both` if the area or shape does. Undefined if the size is allowed. */
export const misfitOf = (size: Dimensions, bounds: SizeBounds): 'width' | 'height' | 'both' | undefined => {
  if (!edgeFits(size.width, bounds)) return 'width';
  if (!edgeFits(size.height, bounds)) return 'height';
  const pixels = size.width * size.height;
  const fits = pixels >= bounds.minPixels && pixels <= bounds.maxPixels && ratioOf(size) <= bounds.maxRatio;
  return fits ? undefined : 'both';
};

/** Returns the size in pixels that the client requested, if it requested one. */
export const askedSize = (size: ChosenSize): Dimensions | undefined =>
  size.kind === 'pixels' ? parseSize(size.asked) : undefined;

/**
 * Chooses a size that the gateway makes from an image of another one (IMG-9): up to the longest edge and the largest
 * area of the bounds, of any shape.
 */
export const chooseAny = (model: ImageModel, size: string, bounds: SizeBounds): ChosenSize => {
  const any = { ...bounds, multipleOf: 1, minPixels: 1, maxRatio: Number.POSITIVE_INFINITY };
  chooseWithin(model, size, any, ['auto']);
  const asked = parseSize(size);
  const drawn = asked && drawableFor(asked, bounds);
  if (!drawn) throw invalidSize(model, { allowed: describeBounds(bounds), nearest: undefined });
  return inPixels(drawn, undefined, size);
};

/**
 * Returns the size to generate for a size of any shape: its edges rounded up, so that rounding loses a few pixels only.
 * If the bounds forbid it, the nearest size to one of the same shape, or of the allowed shape around it.
 */
const drawableFor = ({ width, height }: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const { multipleOf: step, maxEdge, minPixels, maxPixels, maxRatio } = bounds;
  const rounded = { width: Math.ceil(width / step) * step, height: Math.ceil(height / step) * step };
  if (misfitOf(rounded, bounds) === undefined) return rounded;
  const around = { width: Math.max(width, height / maxRatio), height: Math.max(height, width / maxRatio) };
  const area = around.width * around.height;
  const grown = Math.sqrt(Math.min(maxPixels, Math.max(minPixels, area)) / area);
  const scale = Math.min(grown, maxEdge / Math.max(around.width, around.height));
  return nearestWithin({ width: around.width * scale, height: around.height * scale }, bounds);
};

/** Describes the bounds, as text that follows "must be". */
export const describeBounds = (bounds: SizeBounds): string => {
  const { multipleOf, minEdge, maxEdge, minPixels, maxPixels, maxRatio } = bounds;
  const edges = [
    ...(multipleOf > 1 ? [`a multiple of ${multipleOf}`] : []),
    ...(minEdge > multipleOf ? [`at least ${minEdge}`] : []),
    // A bound that follows from the area is left out.
    ...((maxEdge + 1) * minEdge <= maxPixels ? [`at most ${maxEdge}`] : []),
  ].join(', ');
  const area = minPixels > minEdge ** 2 ? `${minPixels} to ${maxPixels} pixels` : `at most ${maxPixels} pixels`;
  const shape = Number.isFinite(maxRatio) ? `, the longer edge at most ${maxRatio} times the shorter` : '';
  return `<width>x<height>, each edge ${edges}, an area of ${area}${shape}`;
};

/** Returns the nearest size within the bounds. Undefined only if the bounds allow no size. */
export const nearestWithin = (asked: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const { multipleOf: step, minEdge, maxEdge, minPixels, maxPixels, maxRatio } = bounds;
  const up = (edge: number): number => Math.ceil(edge / step) * step;
  const down = (edge: number): number => Math.floor(edge / step) * step;
  const sizes: Dimensions[] = [];
  for (let width = up(minEdge); width <= maxEdge; width += step) {
    const least = up(Math.max(minEdge, minPixels / width, width / maxRatio));
    const most = down(Math.min(maxEdge, maxPixels / width, width * maxRatio));
    if (least > most) continue;
    for (const wanted of [down(asked.height), up(asked.height)])
      sizes.push({ width, height: Math.min(Math.max(wanted, least), most) });
  }
  return nearestOf(sizes, (size) => distanceOf(size, asked));
};

/** Largest deviation at which an image counts as having a ratio. */
const ERROR_MAX = 0.02;

/** Smallest share of the allowed pixels that the exact ratio must reach to be preferred. */
const EXACT_SHARE_MIN = 0.5;

const divisorOf = (one: number, other: number): number => (other === 0 ? one : divisorOf(other, one % other));

/**
 * Returns the largest size of a ratio within the bounds. Prefers the exact ratio, unless the step allows only a much
 * smaller size. Undefined if there is none.
 */
export const largestOfRatio = (ratio: Dimensions, bounds: SizeBounds): Dimensions | undefined => {
  const exact = exactOf(ratio, bounds);
  return exact && exact.width * exact.height >= bounds.maxPixels * EXACT_SHARE_MIN ? exact : nearOf(ratio, bounds);
};

/**
 * Returns the largest size of exactly this ratio whose edges are multiples of the step; undefined if that size is
 * outside the bounds. The edges of the reduced ratio have no common factor, so their multiplier must itself be a
 * multiple of the step.
 */
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

const sizeForm = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

const guessForm = /(\d{1,6})\D{1,3}(\d{1,6})/;

const stepForm = /^\s*(\d{1,2}(?:\.\d)?)\s*k\s*$/i;

/** Longest text in which a size is searched, in characters. */
const GUESSED_CHARACTERS_MAX = 32;

const STEP_PIXELS = 1_024;

/** Parses `<width>x<height>` without leading zeros. Returns undefined for other text. */
const parseSize = (text: string): Dimensions | undefined => toDimensions(sizeForm.exec(text));

export const toSizeText = ({ width, height }: Dimensions): string => `${width}x${height}`;

/** Guesses the size that an invalid text means, such as `1024 X 768` or `2k`, to suggest the nearest size. */
const guessSize = (text: string): Dimensions | undefined => {
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

/** Weight of the shape, below any difference of two distances. The shape decides between equally distant sizes. */
const SHAPE_WEIGHT = 1e-8;

/** Returns the distance of two sizes, in pixels. */
const distanceOf = (one: Dimensions, other: Dimensions): number =>
  Math.hypot(one.width - other.width, one.height - other.height) +
  SHAPE_WEIGHT * Math.abs(Math.log((one.width * other.height) / (one.height * other.width)));

const nearestOf = <Item>(items: readonly Item[], distance: (item: Item) => number): Item | undefined => {
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

const nominalEdges: Readonly<Record<ImageTier, number>> = { '1K': 1_024, '1.5K': 1_536, '2K': 2_048, '4K': 4_096 };

/** Returns the maximum number of pixels of that size. A tier counts as a square of its edge, whatever its ratio. */
export const pixelsOf = (size: ChosenSize): number => {
  switch (size.kind) {
    case 'pixels':
      return size.width * size.height;
    case 'tier':
      return nominalEdges[size.tier] ** 2;
    case 'vendor':
      return size.pixelsMax;
  }
};
