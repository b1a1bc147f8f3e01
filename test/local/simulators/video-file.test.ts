import { expect, test } from 'vitest';
import { videoFileOf } from '../../../local/simulators/video-file.ts';
import { readBoxes } from './mp4-boxes.ts';

const fileOf = (id: string, { size = '1280x720', seconds = 4, fileBytes = 200_000 } = {}): Buffer => {
  const file = videoFileOf(id, { createdAtMs: 0, model: 'm', size, seconds, nonce: 0, video: { fileBytes } });
  const bytes = Buffer.concat([...file.pieces()]);
  expect(bytes.length).toBe(file.length);
  return bytes;
};

/** Returns the content of the box at the path. */
const boxAt = (bytes: Buffer, ...path: readonly string[]): Buffer =>
  path.reduce((outer, type) => readBoxes(outer).find((box) => box.type === type)!.bytes, bytes);

const tableOf = (file: Buffer, type: string): number[] => {
  const table = boxAt(file, 'moov', 'trak', 'mdia', 'minf', 'stbl', type);
  return Array.from({ length: table.length / 4 }, (_, index) => table.readUInt32BE(4 * index));
};

/** The samples that the tables of the file describe. */
const samplesOf = (file: Buffer): Buffer[] => {
  const [, , , ...sizes] = tableOf(file, 'stsz');
  let [, , position = 0] = tableOf(file, 'stco');
  return sizes.map((size) => {
    position += size;
    return file.subarray(position - size, position);
  });
};

test.each([
  ['1280x720', 4],
  ['720x1280', 12],
])('the track of a video of %s has its size, and 24 pictures in each of %d seconds', (size, seconds) => {
  const file = fileOf('a', { size, seconds });
  const trackHeader = boxAt(file, 'moov', 'trak', 'tkhd');
  const shown = [76, 80].map((offset) => trackHeader.readUInt32BE(offset) / 0x10000);
  const entry = readBoxes(boxAt(file, 'moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd').subarray(8))[0]!;
  expect(shown.join('x')).toBe(size);
  expect([entry.type, entry.bytes.readUInt16BE(24), entry.bytes.readUInt16BE(26)]).toEqual(['avc1', ...shown]);
  const [, , samples = 0, duration = 0] = tableOf(file, 'stts');
  const mediaHeader = boxAt(file, 'moov', 'trak', 'mdia', 'mdhd');
  expect(samples).toBe(24 * seconds);
  expect(samples * duration).toBe(mediaHeader.readUInt32BE(16));
  expect(mediaHeader.readUInt32BE(16) / mediaHeader.readUInt32BE(12)).toBe(seconds);
});

test('the tables of a file find every picture', () => {
  const samples = samplesOf(fileOf('a'));
  expect(samples.length).toBe(96);
  for (const sample of samples) expect(sample.readUInt32BE(0)).toBe(sample.length - 4);
  expect(samples.map((sample) => sample[4])).toEqual([0x65, ...Array.from({ length: 95 }, () => 0x41)]);
});

test('the files of two videos have other colors and other bytes behind the pictures', () => {
  const [one, other] = [fileOf('a'), fileOf('b')];
  expect(samplesOf(one)[0]!.equals(samplesOf(other)[0]!)).toBe(false);
  expect(one.subarray(-1_000).equals(other.subarray(-1_000))).toBe(false);
});

test('a file below the size of its track is as large as the track', () => {
  const file = fileOf('a', { fileBytes: 1 });
  expect(file.length).toBeLessThan(10_000);
  expect(file.subarray(-samplesOf(file).at(-1)!.length).equals(samplesOf(file).at(-1)!)).toBe(true);
});
