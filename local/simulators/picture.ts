import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { ImageScenario } from './scenario.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** One byte per pixel: an index of the palette. */
const indexed = { depth: 8, colourType: 3 };

export type Picture = {
  readonly width: number;
  readonly height: number;
  /** Text that determines the picture: two texts give two pictures. */
  readonly about: string;
};

/**
 * Returns a valid PNG (https://www.w3.org/TR/png-3/) of exactly this size in four colors, or the scenario's
 * replacement. `bytes` fills it up with an ancillary chunk.
 */
export function pictureOf({ width, height, about }: Picture, scenario: ImageScenario = {}): Buffer {
  if (scenario.content === 'empty') return Buffer.alloc(0);
  if (scenario.content === 'html') return Buffer.from('<!doctype html><title>no image</title>');
  const colours = createHash('sha256').update(about).digest();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([indexed.depth, indexed.colourType, 0, 0, 0], 8);
  // A filter byte before each line of pixels.
  const stripe = Math.max(1, Math.floor(width / 4));
  const line = Buffer.from([0, ...Array.from({ length: width }, (_, x) => Math.floor(x / stripe) % 4)]);
  const pixels = Buffer.concat(Array.from({ length: height }, () => line));
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', colours.subarray(0, 12)),
    chunk('IDAT', deflateSync(pixels, { level: 1 })),
  ];
  const end = chunk('IEND', Buffer.alloc(0));
  const missing =
    (scenario.bytes ?? 0) - signature.length - end.length - parts.reduce((sum, each) => sum + each.length, 0);
  const filling = missing > 12 ? [chunk('fiLl', Buffer.alloc(missing - 12, colours))] : [];
  return Buffer.concat([signature, ...parts, ...filling, end]);
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), content]);
  const framed = Buffer.alloc(8 + named.length);
  framed.writeUInt32BE(content.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}
