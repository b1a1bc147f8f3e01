import { expect, test } from 'vitest';
import { refusalOf } from '../../core/images/image-models.ts';
import { jpeg, png, webp } from '../videos/images.ts';
import { generation } from './image-requests.ts';

const inline = (content: Uint8Array | string, type = 'image/png') =>
  `data:${type};base64,${Buffer.from(content).toString('base64')}`;
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>';
const good = inline(png(64, 64));

/** Values that no model accepts as an image, with a part of the message. */
const noUrls: readonly (readonly [value: unknown, words: string])[] = [
  ['a cat', 'must be'],
  ['', 'must be'],
  [{ url: 'https://a.example' }, 'must be'],
  ['ftp://a.example/a.png', 'must be'],
  [' https://a.example/a.png', 'must be'],
  ['https://', 'not a valid URL'],
  ['https://a.example/\na.png', 'not a valid URL'],
  ['https://a.example/\ud800', 'not a valid URL'],
  [`https://a.example/${'a'.repeat(8_192)}`, 'longer than 8192'],
];

test.for([...noUrls, [good, 'an http(s) URL.'] as const, [['https://a.example'], 'an http(s) URL.'] as const])(
  'IMG-4 Seedream rejects %o among its images',
  ([value, words]) => {
    const refusal = refusalOf(() => generation('seedream-4-0', { image: ['https://a.example/a.png', value] }));
    expect(refusal).toMatchObject({ code: 'invalid_image_format', status: 400, param: 'image[1]' });
    expect(refusal.message).toContain(words);
  },
);

test('IMG-4 Seedream rejects a null among its images, and a value that is neither array nor URL', () => {
  const codeOf = (image: unknown) => refusalOf(() => generation('seedream-4-0', { image }));
  expect(codeOf([null])).toMatchObject({ code: 'invalid_image_format', param: 'image[0]' });
  expect(codeOf(good)).toMatchObject({ code: 'invalid_image_format', param: 'image' });
  expect(codeOf({})).toMatchObject({ code: 'invalid_image_format', param: 'image' });
});

test('IMG-10 Seedream counts its images before it checks them', () => {
  const refusal = refusalOf(() => generation('seedream-4-0', { image: Array.from({ length: 100_000 }, () => 'x') }));
  expect(refusal).toMatchObject({ code: 'invalid_request_error', status: 400 });
});

const noImages: readonly (readonly [value: unknown, words: string])[] = [
  ...noUrls,
  [['https://a.example/a.png'], 'must be'],
  [inline(svg, 'image/svg+xml'), 'PNG, JPEG or WebP'],
  [inline('GIF89a'), 'PNG, JPEG or WebP'],
  [inline(png(64, 64).subarray(0, 12)), 'Send a complete image'],
  [inline(png(10_000, 10_000)), 'more than 64000000 pixels'],
  [`data:image/png;charset=x,${good}`, 'must be'],
  [`${good}!`, 'not valid base64'],
  [good.replace(/=*$/, '==='), 'not valid base64'],
  [good.replace(',', ', '), 'not valid base64'],
  [`${inline(png(64, 64).subarray(0, 39))}A`, 'not valid base64'],
  [`${good.slice(0, 40)}=${good.slice(40)}`, 'not valid base64'],
  [`${good.slice(0, 40)}\n${good.slice(40)}`, 'not valid base64'],
];

test.for(noImages)('IMG-4 Flux rejects %o as an image', ([value, words]) => {
  const refusal = refusalOf(() => generation('flux-2-pro', { input_image: good, input_image_4: value }));
  expect(refusal).toMatchObject({ code: 'invalid_image_format', status: 400, param: 'input_image_4' });
  expect(refusal.message).toContain(words);
});

test('IMG-4 Flux accepts all three formats unchanged, whatever type the data URI declares', () => {
  const images = [png(64, 32), jpeg(65, 33), webp(66, 34), png(67, 35).subarray(0, 38), png(68, 36).subarray(0, 39)];
  const fields = images.map((bytes, at) => [
    at === 0 ? 'input_image' : `input_image_${at + 1}`,
    inline(bytes, 'image/x'),
  ]);
  const { references } = generation('flux-2-pro', Object.fromEntries(fields));
  const files = references.flatMap((reference) => (reference.kind === 'file' ? [reference.file] : []));
  expect(files.map(({ mediaType, width, height }) => [mediaType, width, height])).toEqual([
    ['image/png', 64, 32],
    ['image/jpeg', 65, 33],
    ['image/webp', 66, 34],
    ['image/png', 67, 35],
    ['image/png', 68, 36],
  ]);
  expect(files.map(({ bytes }) => Buffer.from(bytes))).toEqual(images.map((bytes) => Buffer.from(bytes)));
});

test('IMG-4 base64 without padding is also accepted', () => {
  const { references } = generation('flux-2-pro', { input_image: inline(png(64, 32)).replace(/=+$/, '') });
  expect(references).toMatchObject([{ kind: 'file', file: { width: 64, height: 32 } }]);
});
