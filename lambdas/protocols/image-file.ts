import { imageSize } from 'image-size';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';
import type { Dimensions, ImageFile } from '../core/images/image-wire.ts';
import { measureJpeg } from './jpeg-size.ts';

/**
 * What is looked at for the dimensions: they stand behind metadata, which seldom fills half of it. The reader takes a junk file byte by
 * byte, which would hold up everybody for seconds where that is 20 MiB.
 */
const HEAD_BYTES = 512 * 1024;
/** A file of some kilobytes can be an image that fills a vendor's memory. */
const PIXELS_MAX = 64_000_000;

const readable: ReadonlySet<string | undefined> = new Set(['png', 'webp']);

/** The dimensions of a PNG, JPEG or WebP; undefined when they cannot be read. Nothing is decoded. */
export const measureImage = (bytes: Uint8Array): Dimensions | undefined =>
  sniffImage(bytes) === 'image/jpeg' ? measureJpeg(bytes) : measureOther(bytes);

const measureOther = (bytes: Uint8Array): Dimensions | undefined => {
  // The reader takes numbers from beyond the end of a file that is cut, so that it must have memory of its own: what lies behind it in a
  // shared one would be told to the client. And a Buffer, whose slices are no copies: it makes one for each segment.
  const head = new Uint8Array(bytes.subarray(0, HEAD_BYTES));
  try {
    const { width, height, type } = imageSize(Buffer.from(head.buffer));
    return readable.has(type) && width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
};

/** An image of a client's, told by its content alone. Throws `invalid_image_format`. */
export const checkImageFile = (bytes: Uint8Array, param: string): ImageFile => {
  const refuse = (problem: string): GatewayError =>
    new GatewayError('invalid_image_format', `${param}: ${problem}`, { param });
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw refuse('must be a PNG, JPEG or WebP image.');
  const dimensions = measureImage(bytes);
  if (!dimensions) throw refuse('the dimensions of the image cannot be read. Send it whole.');
  const { width, height } = dimensions;
  if (width * height > PIXELS_MAX) {
    throw refuse(`the image is ${width}x${height}, more than ${PIXELS_MAX} pixels. Send a smaller one.`);
  }
  return { mediaType, bytes, width, height };
};
