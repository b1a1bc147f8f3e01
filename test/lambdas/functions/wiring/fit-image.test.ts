import { PhotonImage } from '@cf-wasm/photon';
import { expect, test } from 'vitest';
import { sniffImage } from '../../../../lambdas/core/image-type.ts';
import type { Dimensions } from '../../../../lambdas/core/images/image-wire.ts';
import { fitImage, regionOf } from '../../../../lambdas/functions/wiring/fit-image.ts';
import { measureImage } from '../../../../lambdas/protocols/image-file.ts';

const size = (width: number, height: number): Dimensions => ({ width, height });
const never = new AbortController().signal;

/** Image whose red rises from column to column, its green from row to row, and whose left half is transparent. */
const gradient = ({ width, height }: Dimensions): PhotonImage => {
  const pixels = new Uint8Array(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    pixels.set([at % width, Math.floor(at / width), 7, at % width < width / 2 ? 0 : 255], at * 4);
  }
  return new PhotonImage(pixels, width, height);
};

const encoded = {
  'image/png': (image: PhotonImage) => image.get_bytes(),
  'image/jpeg': (image: PhotonImage) => image.get_bytes_jpeg(95),
  'image/webp': (image: PhotonImage) => image.get_bytes_webp(),
};
test.each([
  ['image/png', size(16, 16)],
  ['image/jpeg', size(60, 50)],
  ['image/webp', size(120, 31)],
] as const)('IMG-9 an image of type %s gets exactly the size %o and keeps its type', async (mediaType, to) => {
  const from = size(64, 48);
  const bytes = encoded[mediaType](gradient(from));
  const fitted = await fitImage({ bytes, mediaType, from, to }, never);
  expect([sniffImage(fitted!), measureImage(fitted!)]).toEqual([mediaType, to]);
});

test('IMG-9 a rounding difference is cut off around the center, and every pixel is kept', async () => {
  const [from, to] = [size(64, 48), size(60, 45)];
  const bytes = gradient(from).get_bytes();
  const fitted = await fitImage({ bytes, mediaType: 'image/png', from, to }, never);
  const pixels = PhotonImage.new_from_byteslice(fitted!).get_raw_pixels();
  const at = (x: number, y: number) => [...pixels.slice((y * to.width + x) * 4, (y * to.width + x) * 4 + 4)];
  expect([at(0, 0), at(59, 44)]).toEqual([
    [2, 1, 7, 0],
    [61, 45, 7, 255],
  ]);
});

test.each([
  [size(944, 704), size(800, 600), size(939, 704)],
  [size(3_456, 2_400), size(3_840, 2_560), size(3_456, 2_304)],
  [size(3_008, 1_008), size(3_000, 500), size(3_008, 501)],
  [size(1_024, 1_024), size(16, 3_840), size(4, 1_024)],
])('IMG-9 an image of %o becomes one of %o without a change of its shape', (from, to, kept) => {
  const { left, top, ...region } = regionOf({ from, to });
  expect(region).toEqual(kept);
  expect([left + region.width <= from.width, top + region.height <= from.height]).toEqual([true, true]);
});

test.each(['image/png', 'image/jpeg'] as const)(
  'IMG-9 a truncated %s is not fitted, and the next one is',
  async (mediaType) => {
    const [from, to] = [size(64, 64), size(50, 40)];
    const bytes = encoded[mediaType](gradient(from));
    const broken = fitImage({ bytes: bytes.slice(0, bytes.length / 2), mediaType, from, to }, never);
    const whole = fitImage({ bytes, mediaType, from, to }, never);
    expect([await broken, measureImage((await whole)!)]).toEqual([undefined, to]);
  },
);

test('IMG-9 an image of too many pixels, and one after the deadline, are not fitted', async () => {
  const [from, to] = [size(64, 64), size(50, 40)];
  const task = { bytes: gradient(from).get_bytes(), mediaType: 'image/png', from, to } as const;
  const ended = new AbortController();
  const pending = fitImage(task, ended.signal);
  ended.abort();
  expect(await Promise.all([pending, fitImage(task, ended.signal)])).toEqual([undefined, undefined]);
  expect(await fitImage({ ...task, from: size(4_097, 4_096) }, never)).toBeUndefined();
});
