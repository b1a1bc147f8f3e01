import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { IMAGE_TIER_DEFAULT } from '../pricing/charge.ts';
import type { ChosenSize, ImageTier } from './choose-size.ts';
import { pixelsOf } from './image-pixels.ts';
import type { Dimensions } from './image-wire.ts';
import { describeBounds, misfitOf, nearestWithin, ratioOf, type SizeBounds } from './size-bounds.ts';
import { largestOfRatio } from './size-ratio.ts';
import { distanceOf, guessSize, nearestOf, parseSize, toSizeText } from './size-text.ts';

type SizeRule = ImageModel['image']['size'];
type RuleOf<Mode extends SizeRule['mode']> = Extract<SizeRule, { readonly mode: Mode }>;

/** What a vendor that chooses for itself draws at most: https://platform.openai.com/docs/api-reference/images/create, `size`. */
export const AUTO_PIXELS_MAX = 1_536 * 1_024;
const tiersUpwards: readonly ImageTier[] = ['1K', '1.5K', '2K', '4K'];

interface Refused {
  /** Stands behind "must be". */
  readonly allowed: string;
  readonly nearest: string | undefined;
  readonly param?: string;
}

/** GEN-4: says what is allowed, and the nearest of it where one can be told. */
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

/** A size in pixels within bounds. `alternatives` are other texts that the rule takes, told in the refusal. */
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

/** IMG-9: one of the list; what the vendor cannot draw is drawn at the largest size of the same ratio. */
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
/** A size much longer than the longest of these would come back as another shape. */
const RATIO_MAX = 3;
/** The longest edge that counts as a step; beyond the last it is the largest step. */
const stepEdges: readonly (readonly [ImageTier, number])[] = [
  ['1K', 1_536],
  ['2K', 2_560],
];

/** A step by its name, or a size in pixels as the step that it belongs to and the vendor's nearest ratio. */
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

/** Sizes up to 4096x4096, told by their area: https://docs.byteplus.com/en/docs/ModelArk/1541523, `size`. */
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
