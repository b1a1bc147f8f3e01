import { type Picture, pictureOf } from '../picture.ts';
import type { Scenario } from '../scenario.ts';
import type { VendorRefusal } from '../wire.ts';
import { invalidArgument } from './error.ts';
import { newThoughtSignature } from './function-turns.ts';
import type { Brush, Model } from './models.ts';
import type { GenerateRequest } from './request.ts';

type ImagePart = Readonly<Record<string, unknown>>;

/**
 * Dimensions at 1K by aspect ratio. The edges are twice as long at 2K and four times as long at 4K. Source:
 * https://ai.google.dev/gemini-api/docs/image-generation#aspect_ratios_and_image_size
 */
const dimensions: Readonly<Record<string, readonly [width: number, height: number]>> = {
  '1:1': [1024, 1024],
  '2:3': [848, 1264],
  '3:2': [1264, 848],
  '3:4': [896, 1200],
  '4:3': [1200, 896],
  '4:5': [928, 1152],
  '5:4': [1152, 928],
  '9:16': [768, 1376],
  '16:9': [1376, 768],
  '21:9': [1584, 672],
};

/** Dimensions that the pro model lacks. */
const longDimensions: typeof dimensions = {
  '1:4': [512, 2048],
  '4:1': [2048, 512],
  '1:8': [384, 3072],
  '8:1': [3072, 384],
};

const scales: Readonly<Record<string, number>> = { '1K': 1, '2K': 2, '4K': 4 };

type Config = NonNullable<GenerateRequest['generationConfig']>;

/** Modalities are case-insensitive. An empty list means all modalities of the model. */
function wants(modality: 'TEXT' | 'IMAGE', { responseModalities: named = [] }: Config): boolean {
  return named.length === 0 || named.some((name) => name.toUpperCase() === modality);
}

/** The rejections are documented. Their messages are invented. */
export function refuseDrawing(
  { generationConfig = {} }: GenerateRequest,
  { id, brush }: Model,
): VendorRefusal | undefined {
  const { responseModalities = [], imageConfig } = generationConfig;
  const known = brush ? ['TEXT', 'IMAGE'] : ['TEXT'];
  if (responseModalities.some((name) => !known.includes(name.toUpperCase()))) {
    return invalidArgument(
      `The requested combination of response modalities (${responseModalities.join(', ')}) is not supported by the model. ` +
        `models/${id} accepts the following combination of response modalities:\n* ${known.join(', ')}\n`,
    );
  }
  if (imageConfig === undefined) return undefined;
  if (!brush) return invalidArgument(`Image config is not enabled for models/${id}`);
  const { aspectRatio = '1:1', imageSize } = imageConfig;
  const ratios = Object.keys(dimensionsOf(brush));
  if (!ratios.includes(aspectRatio)) return invalidArgument(`aspect_ratio must be one of ${ratios.join(', ')}`);
  const sizes = Object.keys(brush.tokensBySize);
  return imageSize === undefined || sizes.includes(imageSize)
    ? undefined
    : invalidArgument(`image_size must be one of ${sizes.join(', ')}`);
}

function dimensionsOf({ hasLongRatios }: Brush): typeof dimensions {
  return hasLongRatios ? { ...dimensions, ...longDimensions } : dimensions;
}

export function saysText({ generationConfig = {} }: GenerateRequest): boolean {
  return wants('TEXT', generationConfig);
}

/** Returns the tokens of the requested image. Undefined if no image is requested. */
export function imageTokensOf({ generationConfig = {} }: GenerateRequest, { brush }: Model): number | undefined {
  if (!brush || !wants('IMAGE', generationConfig)) return undefined;
  const { imageSize } = generationConfig.imageConfig ?? {};
  return imageSize === undefined ? Object.values(brush.tokensBySize)[0] : brush.tokensBySize[imageSize];
}

/** Returns a picture of the requested size. */
export function draw(about: string, { generationConfig }: GenerateRequest, brush: Brush, scenario: Scenario) {
  const { aspectRatio = '1:1', imageSize = '1K' } = generationConfig?.imageConfig ?? {};
  const [width, height] = dimensionsOf(brush)[aspectRatio] ?? [1024, 1024];
  const scale = scales[imageSize] ?? 1;
  return toPart({ width: width * scale, height: height * scale, about }, scenario);
}

/** Returns a small picture, like the draft that the model makes first. */
export function draft(about: string): ImagePart {
  return { ...toPart({ width: 256, height: 256, about: `a draft of ${about}` }), thought: true };
}

function toPart(picture: Picture, { image }: Scenario = {}): ImagePart {
  const data = pictureOf(picture, image).toString('base64');
  const broken = image?.content === 'broken' ? `${data.slice(0, 200)}*${data.slice(200)}` : data;
  return { inlineData: { mimeType: 'image/png', data: broken }, thoughtSignature: newThoughtSignature() };
}
