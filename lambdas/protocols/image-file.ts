import { imageSize } from 'image-size';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';
import type { Dimensions, ImageFile } from '../core/images/image-wire.ts';

/** Cameras write a few dozen segments before the frame. Reading one is cheap, but a limit is needed. */
const SEGMENTS_MAX = 10_000;
const START_OF_IMAGE = 0xd8;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Markers SOF0 to SOF15, except DHT, JPG and DAC, which are in the same range. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Markers without a length: TEM and RST0 to RST7. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Position of the next marker after one that is not a frame. Undefined if none can follow. */
const nextAt = (view: DataView, at: number): number | undefined => {
  const marker = view.getUint8(at + 1);
  // Any number of fill bytes may precede a marker.
  if (marker === 0xff) return at + 1;
  if (isAlone(marker)) return at + 2;
  if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return undefined;
  const length = view.getUint16(at + 2);
  return length < 2 ? undefined : at + 2 + length;
};

const frameAt = (view: DataView, at: number): Dimensions | undefined => {
  const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
  return width > 0 && height > 0 ? { width, height } : undefined;
};

/**
 * Dimensions of a JPEG, from its frame header (https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.2.2). Skips from segment
 * to segment, however much metadata comes first. The reader for the other formats takes seconds for a file of many tiny
 * segments.
 */
export const measureJpeg = (bytes: Uint8Array): Dimensions | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at: number | undefined = bytes[1] === START_OF_IMAGE ? 2 : undefined;
  for (let segment = 0; segment < SEGMENTS_MAX; segment += 1) {
    if (at === undefined || at + 9 > bytes.length || bytes[at] !== 0xff) return undefined;
    if (isFrame(view.getUint8(at + 1))) return frameAt(view, at);
    at = nextAt(view, at);
  }
  return undefined;
};

/**
 * Number of bytes that are searched for the dimensions. The dimensions follow the metadata, which rarely fills half of
 * these bytes. The reader scans an invalid file byte by byte, so scanning 20 MiB would block all other requests for
 * seconds.
 */
const HEAD_BYTES = 512 * 1024;
/** An image file of a few KB can fill the provider's memory when it is decoded. */
const PIXELS_MAX = 64_000_000;

const readable: ReadonlySet<string | undefined> = new Set(['png', 'webp']);

/** Dimensions of a PNG, JPEG or WebP image. Undefined if they cannot be read. Nothing is decoded. */
export const measureImage = (bytes: Uint8Array): Dimensions | undefined =>
  sniffImage(bytes) === 'image/jpeg' ? measureJpeg(bytes) : measureOther(bytes);

const measureOther = (bytes: Uint8Array): Dimensions | undefined => {
  // Copies the head, because the reader can read beyond the end of a truncated file, and in a shared buffer it would
  // leak neighboring bytes to the client. Passes a Buffer, whose slices are not copies, because the reader makes one
  // slice per segment.
  const head = new Uint8Array(bytes.subarray(0, HEAD_BYTES));
  try {
    const { width, height, type } = imageSize(Buffer.from(head.buffer));
    return readable.has(type) && width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
};

/** Checks an image of a client by its content alone. Throws `invalid_image_format`. */
export const checkImageFile = (bytes: Uint8Array, param: string): ImageFile => {
  const refuse = (problem: string): GatewayError =>
    new GatewayError('invalid_image_format', `${param}: ${problem}`, { param });
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw refuse('must be a PNG, JPEG or WebP image.');
  const dimensions = measureImage(bytes);
  if (!dimensions) throw refuse('the dimensions of the image cannot be read. Send a complete image.');
  const { width, height } = dimensions;
  if (width * height > PIXELS_MAX) {
    throw refuse(`the image is ${width}x${height}, more than ${PIXELS_MAX} pixels. Send a smaller one.`);
  }
  return { mediaType, bytes, width, height };
};
