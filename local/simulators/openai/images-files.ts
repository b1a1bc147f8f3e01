import { imageSize } from 'image-size';
import type { SentFile } from '../read-form.ts';
import { openaiError } from './error.ts';
import type { ImageForm } from './images-form.ts';

export type Dimensions = { readonly width: number; readonly height: number };

const formats = ['image/jpeg', 'image/png', 'image/webp'];
const imagesMax = 16;
const imageBytesMax = 50 * 1024 * 1024;
const maskBytesMax = 4 * 1024 * 1024;
const userError = 'image_generation_user_error';

/**
 * Returns the dimensions of the images, followed by those of the mask, or throws the provider's 400. Does not check
 * whether the mask is transparent.
 */
export function parseImages({ files }: ImageForm): readonly Dimensions[] {
  const images = files.filter(({ name }) => name === 'image');
  const [mask, ...others] = files.filter(({ name }) => name === 'mask');
  const unknown = files.find(({ name }) => name !== 'image' && name !== 'mask');
  if (unknown !== undefined) {
    const message = `Unknown parameter: '${unknown.name}'.`;
    throw openaiError(400, message, { param: unknown.name, code: 'unknown_parameter' });
  }
  refuseCount(images, others.length > 0);
  const read = images.map((image, index) => {
    const param = image.inArray ? `image[${index}]` : 'image';
    refuseType(param, image.mediaType, formats);
    refuseBytes(param, image, imageBytesMax);
    return dimensionsOf(image) ?? refuseImage(index);
  });
  if (mask === undefined) return read;
  refuseType('mask', mask.mediaType, ['image/png']);
  refuseBytes('mask', mask, maskBytesMax);
  const dimensions = dimensionsOf(mask);
  if (dimensions === undefined || !isSameSize(dimensions, read[0])) {
    const message = 'Invalid mask image format - mask size does not match image size';
    throw openaiError(400, message, { type: userError, code: 'invalid_mask_image_format' });
  }
  return [...read, dimensions];
}

function refuseCount(images: ImageForm['files'], severalMasks: boolean): void {
  if (images.length === 0) {
    throw openaiError(400, "Missing required parameter: 'image'.", {
      param: 'image',
      code: 'missing_required_parameter',
    });
  }
  const repeated = severalMasks ? 'mask' : 'image';
  if (severalMasks || (images.length > 1 && !images.every(({ inArray }) => inArray))) {
    const message = `Duplicate parameter: '${repeated}'. You provided multiple values for this parameter, whereas only one is allowed.`;
    throw openaiError(400, message, { param: repeated, code: 'duplicate_parameter' });
  }
  if (images.length > imagesMax) {
    const message = `Invalid 'image': array too long. Expected an array with maximum length ${imagesMax}, but got an array with length ${images.length} instead.`;
    throw openaiError(400, message, { param: 'image', code: 'array_above_max_length' });
  }
}

function refuseType(param: string, mediaType: string, known: readonly string[]): void {
  if (known.includes(mediaType)) return;
  const names = new Intl.ListFormat('en').format(known.map((one) => `'${one}'`));
  const message = `Invalid file '${param}': unsupported mimetype ('${mediaType}'). Supported file formats are ${names}.`;
  throw openaiError(400, message, { param, code: 'unsupported_file_mimetype' });
}

function refuseBytes(param: string, { bytes }: SentFile, most: number): void {
  if (bytes.length < most) return;
  const message = `Invalid file '${param}': the file must have less than ${most} bytes.`;
  throw openaiError(400, message, { param, code: 'invalid_value' });
}

/** Source: https://github.com/lofcz/LLMTornado/issues/105 */
function refuseImage(index: number): never {
  const message = `Invalid image file or mode for image ${index + 1}, please check your image file.`;
  throw openaiError(400, message, { type: userError, code: 'invalid_image_file' });
}

function dimensionsOf({ bytes }: SentFile): Dimensions | undefined {
  try {
    const { width, height } = imageSize(bytes);
    return { width, height };
  } catch {
    return undefined;
  }
}

function isSameSize(one: Dimensions, other: Dimensions | undefined): boolean {
  return one.width === other?.width && one.height === other.height;
}
