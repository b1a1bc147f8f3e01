import { imageSize } from 'image-size';
import type { VideoModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/images/image-type.ts';
import type { ReferenceImage } from '../../core/videos/video-wire.ts';

const PARAM = 'input_reference';
/**
 * What is looked at for the dimensions: they stand behind metadata, which seldom fills half of it. The reader takes a junk file byte by
 * byte, which would hold up everybody for seconds where that is 20 MiB.
 */
const HEAD_BYTES = 512 * 1024;

interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** VID-2: the first frame, of exactly the size that is asked for. Throws the 400 of what is wrong with it. */
export const toReference = (bytes: Uint8Array, { id, video }: VideoModel, size: Dimensions): ReferenceImage => {
  if (!video.inputReference) {
    throw invalidRequest(PARAM, `${PARAM}: "${id}" starts from the prompt alone. Leave the file out.`);
  }
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw badImage('must be a PNG, JPEG or WebP image.');
  const { width, height } = dimensionsOf(bytes);
  if (width !== size.width || height !== size.height) {
    const asked = `${size.width}x${size.height}`;
    const message = `${PARAM}: the image is ${width}x${height}, but size is ${asked}. Send an image of ${asked}.`;
    throw new GatewayError('invalid_size', message, { param: PARAM });
  }
  return { mediaType, bytes };
};

const badImage = (problem: string): GatewayError =>
  new GatewayError('invalid_image_format', `${PARAM}: ${problem}`, { param: PARAM });

const readable: ReadonlySet<string | undefined> = new Set(['png', 'jpg', 'webp']);

const dimensionsOf = (bytes: Uint8Array): Dimensions => {
  const size = readSize(bytes);
  if (!size || !readable.has(size.type)) throw badImage('the dimensions of the image cannot be read. Send it whole.');
  return size;
};

const readSize = (bytes: Uint8Array) => {
  // The reader takes numbers from beyond the end of a file that is cut, so that it must have memory of its own: what lies behind it in a
  // shared one would be told to the client. And a Buffer, whose slices are no copies: it makes one for each segment.
  const head = new Uint8Array(bytes.subarray(0, HEAD_BYTES));
  try {
    return imageSize(Buffer.from(head.buffer));
  } catch {
    return undefined;
  }
};
