import { imageSize } from 'image-size';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';
import type { Dimensions, ImageFile } from '../core/images/image-wire.ts';

/** A camera writes some dozens before the frame; each step costs nothing, but there must be an end to them. */
const SEGMENTS_MAX = 10_000;
const START_OF_IMAGE = 0xd8;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Whether the marker is SOF0 to SOF15, without DHT, JPG and DAC, which are in that range. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** TEM and RST0 to RST7. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Offset of the marker after one that is not a frame; undefined if none can follow. */
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
 * Measures a JPEG by its frame header, from segment to segment, whatever metadata precedes it. Source:
 * https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.2.2. The reader for other formats takes seconds for a file with many
 * tiny segments.
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
 * Bytes that are searched for the dimensions. They follow metadata, which seldom fills half of this. The reader takes a
 * junk file byte by byte, which would block the process for seconds at 20 MiB.
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
