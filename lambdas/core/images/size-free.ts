import type { ImageModel } from '../catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { ChosenSize, SizeWish } from './choose-size.ts';
import type { Dimensions } from './image-wire.ts';
import { describeBounds, misfitOf, nearestWithin, type SizeBounds } from './size-bounds.ts';
import { largestOfRatio } from './size-ratio.ts';
import { AUTO_PIXELS_MAX, chooseWithin, inPixels, invalidSize } from './size-rules.ts';
import { toSizeText } from './size-text.ts';

type FreeRule = Extract<ImageModel['image']['size'], { readonly mode: 'free' }>;

/** https://help.bfl.ai/articles/1691577414-can-i-generate-different-aspect-ratios-compared-to-what-the-input-image-is */
const sizeDefault: Dimensions = { width: 1_024, height: 1_024 };
/** An image of which only the ratio is told has about a megapixel, which is what the lowest price is for. */
const RATIO_PIXELS_MAX = 1_048_576;

/** Any size within the bounds, told in one of up to three ways. Refuses two of them together. */
export const chooseFree = (model: ImageModel, rule: FreeRule, wish: SizeWish): ChosenSize => {
  const { size, aspectRatio } = wish;
  const bounds = boundsOf(rule);
  const edges = edgesOf(wish);
  refuseTwoWays(wish, edges !== undefined);
  if (aspectRatio !== undefined) return ofRatio(model, aspectRatio, bounds);
  if (edges) return ofEdges(model, edges, bounds);
  if (rule.auto && (size === undefined || size === 'auto')) return { kind: 'vendor', pixelsMax: AUTO_PIXELS_MAX };
  if (size !== undefined) return chooseWithin(model, size, bounds, rule.auto ? ['auto'] : []);
  return wish.hasReferences ? { kind: 'vendor', pixelsMax: rule.maxPixels } : inPixels(sizeDefault);
};

const boundsOf = (rule: FreeRule): SizeBounds => ({
  multipleOf: rule.multipleOf,
  minEdge: rule.minEdge ?? rule.multipleOf,
  maxEdge: rule.maxEdge,
  minPixels: rule.minPixels ?? 1,
  maxPixels: rule.maxPixels,
  maxRatio: rule.maxRatio ?? Number.POSITIVE_INFINITY,
});

const refuseTwoWays = ({ size, aspectRatio }: SizeWish, hasEdges: boolean): void => {
  if (hasEdges && size !== undefined) throw oneOnly('size', 'width and height');
  if (aspectRatio === undefined) return;
  if (hasEdges) throw oneOnly('aspect_ratio', 'width and height');
  if (size !== undefined) throw oneOnly('aspect_ratio', 'size');
};

const oneOnly = (param: string, other: string): GatewayError =>
  invalidRequest(param, `${param}: cannot be sent together with ${other}. Send one of the two.`);

const edgesOf = ({ width, height }: SizeWish): Dimensions | undefined => {
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined) throw invalidRequest('width', 'width: is missing. Send width and height together.');
  if (height === undefined) throw invalidRequest('height', 'height: is missing. Send width and height together.');
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
  const most = Math.floor(bounds.maxEdge / bounds.minEdge);
  throw invalidSize(model, {
    allowed: `a ratio of two whole numbers such as 16:9, from 1:${most} to ${most}:1,`,
    nearest: undefined,
    param: 'aspect_ratio',
  });
};
