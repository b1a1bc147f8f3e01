import { expect, test } from 'vitest';
import { checkImageFile, measureJpeg } from '../../../lambdas/protocols/image-file.ts';

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const segment = (marker: number, content: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length + 2);
  return Buffer.concat([bytes(0xff, marker), length, content]);
};
const frame = (width: number, height: number, marker = 0xc0): Buffer => {
  const content = Buffer.alloc(15, 8);
  content.writeUInt16BE(height, 1);
  content.writeUInt16BE(width, 3);
  return segment(marker, content);
};
const jpeg = (...parts: Buffer[]): Buffer => Buffer.concat([bytes(0xff, 0xd8), ...parts, bytes(0xff, 0xd9)]);
const size = { width: 640, height: 480 };

test.each([
  ['as cameras write it', jpeg(segment(0xe0, Buffer.from('JFIF')), frame(640, 480))],
  ['progressive', jpeg(segment(0xe1, Buffer.alloc(60_000)), frame(640, 480, 0xc2))],
  ['after tables, whose marker is in the same range', jpeg(segment(0xc4, Buffer.alloc(30, 0xff)), frame(640, 480))],
  ['after fill bytes', jpeg(bytes(0xff, 0xff, 0xff), frame(640, 480))],
  ['after markers without a length', jpeg(bytes(0xff, 0x01, 0xff, 0xd0), frame(640, 480))],
  [
    'after a megabyte of metadata',
    jpeg(...Array.from({ length: 20 }, () => segment(0xeb, Buffer.alloc(60_000))), frame(640, 480)),
  ],
])('IMG-5 the dimensions of a JPEG are read %s', (_what, file) => {
  expect(measureJpeg(file)).toEqual(size);
  expect(checkImageFile(file, 'image')).toMatchObject({ mediaType: 'image/jpeg', ...size });
});

test.each([
  ['truncated in its frame', jpeg(frame(640, 480)).subarray(0, 9)],
  ['without a frame', jpeg(segment(0xe0, Buffer.from('JFIF')), segment(0xda, Buffer.alloc(10)), Buffer.alloc(20))],
  ['whose segment has no length', jpeg(bytes(0xff, 0xe0, 0, 0), frame(640, 480))],
  ['with an invalid marker', jpeg(segment(0xe0, Buffer.from('JFIF')), Buffer.from('junk'), frame(640, 480))],
  ['with a height of zero', jpeg(frame(640, 0))],
  [
    'with more segments than any camera writes',
    jpeg(...Array.from({ length: 20_000 }, () => segment(0xe0, Buffer.alloc(0))), frame(640, 480)),
  ],
])('IMG-5 a JPEG %s is not a complete image', (_what, file) => {
  expect(measureJpeg(file)).toBeUndefined();
});
