import type { Dimensions } from '../core/images/image-wire.ts';

/** A camera writes some dozens before the frame; each step costs nothing, but there must be an end to them. */
const SEGMENTS_MAX = 10_000;
const START_OF_IMAGE = 0xd8;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** SOF0 to SOF15, without DHT, JPG and DAC, which stand among them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** TEM and RST0 to RST7. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Where the next marker stands, of one that is not a frame; undefined where nothing can follow. */
const nextAt = (view: DataView, at: number): number | undefined => {
  const marker = view.getUint8(at + 1);
  // Any number of them may stand before a marker.
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
 * The dimensions of a JPEG, from its frame header (https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.2.2): from segment to segment, however
 * much metadata stands before it. The reader for the other formats takes seconds for a file of many tiny segments.
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
