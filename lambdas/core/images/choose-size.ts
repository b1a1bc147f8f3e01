import type { ImageModel } from '../catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { ChosenSize, Dimensions } from './image-wire.ts';
import {
  AUTO_PIXELS_MAX,
  chooseAny,
  chooseByArea,
  chooseByTier,
  chooseListed,
  chooseStep,
  chooseWithin,
  describeBounds,
  inPixels,
  invalidSize,
  largestOfRatio,
  misfitOf,
  nearestWithin,
  type SizeBounds,
  toSizeText,
} from './size-rules.ts';

type SizeRule = ImageModel['image']['size'];

/** Size fields as the client sent them; undefined if absent. */
export interface RequestedSize {
  readonly size: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly aspectRatio: string | undefined;
  /** Whether the request has reference images. Without a size, the provider uses the size of the first one. */
  readonly hasReferences: boolean;
}

/**
 * Chooses the size of an image (IMG-2, IMG-9). Throws `invalid_size` with the allowed sizes and the nearest one, or the
 * 400 of a field that the model does not support.
 */
export const chooseSize = (model: ImageModel, wish: RequestedSize): ChosenSize => {
  const rule = model.image.size;
  refuseOtherFields(model, wish);
  switch (rule.mode) {
    case 'free':
      return chooseFree(model, rule, wish);
    case 'enum':
      return chooseListed(model, rule, wish.size);
    case 'enum_by_tier':
      return chooseByTier(model, rule, wish.size);
    case 'tiers':
      return chooseStep(model, rule, wish.size);
    case 'ignored':
      return { kind: 'vendor', pixelsMax: AUTO_PIXELS_MAX };
    case 'forbidden':
      if (wish.size === undefined) return { kind: 'tier', tier: rule.actual, aspectRatio: undefined };
      throw invalidSize(model, { allowed: `absent: the size is always ${rule.actual}`, nearest: undefined });
    case 'pixels':
      return chooseByArea(model, rule, wish.size);
  }
};

/** Rejects width, height and a ratio, unless the provider of the model has these fields. */
const refuseOtherFields = ({ id, capabilities, image }: ImageModel, wish: RequestedSize): void => {
  const advice = adviceOf(image.size);
  const refuse = (param: string) => invalidRequest(param, `${param}: not supported with "${id}". ${advice}`);
  if (wish.width !== undefined && !capabilities.widthHeight) throw refuse('width');
  if (wish.height !== undefined && !capabilities.widthHeight) throw refuse('height');
  if (wish.aspectRatio !== undefined && !capabilities.aspectRatio) throw refuse('aspect_ratio');
};

const adviceOf = ({ mode }: SizeRule): string => {
  if (mode === 'forbidden') return 'Remove it: the images of this model have one size.';
  return mode === 'ignored' ? 'Describe the size in the prompt.' : 'Use size.';
};

type FreeRule = Extract<ImageModel['image']['size'], { readonly mode: 'free' }>;

/** Source: https://help.bfl.ai/articles/1691577414-can-i-generate-different-aspect-ratios-compared-to-what-the-input-image-is */
const sizeDefault: Dimensions = { width: 1_024, height: 1_024 };

/**
 * Maximum number of pixels of an image if the client gives only a ratio: about a megapixel, which has the lowest price.
 */
const RATIO_PIXELS_MAX = 1_048_576;

/**
 * Chooses a size within the bounds from `size`, from width and height, or from a ratio. Rejects more than one of the
 * three.
 */
const chooseFree = (model: ImageModel, rule: FreeRule, wish: RequestedSize): ChosenSize => {
  const { size, aspectRatio } = wish;
  const bounds = boundsOf(rule);
  const edges = edgesOf(wish);
  refuseTwoWays(wish, edges !== undefined);
  if (aspectRatio !== undefined) return ofRatio(model, aspectRatio, bounds);
  if (edges) return ofEdges(model, edges, bounds);
  if (rule.auto && (size === undefined || size === 'auto')) return { kind: 'vendor', pixelsMax: AUTO_PIXELS_MAX };
  if (size !== undefined) {
    return rule.anySize ? chooseAny(model, size, bounds) : chooseWithin(model, size, bounds, rule.auto ? ['auto'] : []);
  }
  return wish.hasReferences ? { kind: 'vendor', pixelsMax: rule.maxPixels } : inPixels(sizeDefault);
};

/** Returns the largest square that a model with free sizes creates; undefined if there is none. */
export const largestSquare = (rule: FreeRule): string | undefined => {
  const size = largestOfRatio({ width: 1, height: 1 }, boundsOf(rule));
  return size && toSizeText(size);
};

const boundsOf = ({ multipleOf, minEdge = multipleOf, maxPixels, ...rule }: FreeRule): SizeBounds => ({
  multipleOf,
  minEdge,
  maxEdge: rule.maxEdge ?? Math.floor(maxPixels / minEdge),
  minPixels: rule.minPixels ?? 1,
  maxPixels,
  maxRatio: rule.maxRatio ?? Number.POSITIVE_INFINITY,
});

const refuseTwoWays = ({ size, aspectRatio }: RequestedSize, hasEdges: boolean): void => {
  if (hasEdges && size !== undefined) throw oneOnly('size', 'width and height');
  if (aspectRatio === undefined) return;
  if (hasEdges) throw oneOnly('aspect_ratio', 'width and height');
  if (size !== undefined) throw oneOnly('aspect_ratio', 'size');
};

const oneOnly = (param: string, other: string): GatewayError =>
  invalidRequest(param, `${param}: cannot be combined with ${other}. Send one of the two.`);

const edgesOf = ({ width, height }: RequestedSize): Dimensions | undefined => {
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined) throw invalidRequest('width', 'width: missing. Send width and height together.');
  if (height === undefined) throw invalidRequest('height', 'height: missing. Send width and height together.');
  return { width, height };
};

const ofEdges = (model: ImageModel, edges: Dimensions, bounds: SizeBounds): ChosenSize => {
  const misfit = misfitOf(edges, bounds);
  if (misfit === undefined) return inPixels(edges);
  const asked = { width: Math.max(1, edges.width), height: Math.max(1, edges.height) };
  const nearest = nearestWithin(asked, bounds);
  throw invalidSize(model, {
    allowed: `such that the size is ${describeBounds(bounds)},`,
    nearest: nearest && toSizeText(nearest),
    param: misfit === 'both' ? 'width' : misfit,
  });
};

const ratioForm = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/;

const ofRatio = (model: ImageModel, text: string, bounds: SizeBounds): ChosenSize => {
  const [, width, height] = ratioForm.exec(text) ?? [];
  const ratio = width !== undefined && height !== undefined && { width: Number(width), height: Number(height) };
  const maxPixels = Math.min(bounds.maxPixels, RATIO_PIXELS_MAX);
  const size = ratio && largestOfRatio(ratio, { ...bounds, maxPixels });
  if (size) return inPixels(size);
  const most = Math.floor(Math.min(bounds.maxEdge, maxPixels / bounds.minEdge) / bounds.minEdge);
  throw invalidSize(model, {
    allowed: `a ratio of two whole numbers such as 16:9, from 1:${most} to ${most}:1,`,
    nearest: undefined,
    param: 'aspect_ratio',
  });
};
