import { expect, test } from 'vitest';
import { encodeBar } from '../../../local/simulators/h264.ts';

const encode = (width: number, height: number, count = 24) => encodeBar({ width, height }, [96, 100, 150], count);

/** Reads the codes of 9.1 from a unit without its header byte, and without the bytes that prevent start codes. */
const readerOf = (unit: Buffer) => {
  const payload = unit
    .subarray(1)
    .filter((byte, at, bytes) => byte !== 3 || bytes[at - 1] !== 0 || bytes[at - 2] !== 0);
  const bits = Array.from(payload, (byte) => byte.toString(2).padStart(8, '0')).join('');
  let at = 0;
  const fixed = (length: number): number => {
    at += length;
    return Number.parseInt(bits.slice(at - length, at), 2);
  };
  const count = (): number => {
    const zeros = bits.indexOf('1', at) - at;
    at += zeros;
    return fixed(zeros + 1) - 1;
  };
  return { fixed, count };
};

/** Size of the pictures according to the sequence parameters. */
const readSize = (sequence: Buffer): { readonly level: number; readonly width: number; readonly height: number } => {
  const { fixed, count } = readerOf(sequence);
  expect([fixed(8), fixed(8)]).toEqual([66, 0xc0]);
  const level = fixed(8);
  expect([count(), count(), count(), count(), fixed(1)]).toEqual([0, 0, 2, 1, 0]);
  const [width, height] = [(count() + 1) * 16, (count() + 1) * 16];
  expect([fixed(1), fixed(1)]).toEqual([1, 1]);
  const [, right, , bottom] = fixed(1) === 1 ? [count(), count(), count(), count()] : [0, 0, 0, 0];
  return { level, width: width - 2 * right!, height: height - 2 * bottom! };
};

test.each([
  [1280, 720, 40],
  [720, 1280, 40],
  [1920, 1080, 40],
  [854, 480, 40],
  [3840, 2160, 51],
])('a video of %d x %d pixels declares its size and the level %d', (width, height, level) => {
  expect(readSize(encode(width, height).parameters.sequence)).toEqual({ level, width, height });
});

test('only the first picture can be decoded alone, and the others count their frame numbers', () => {
  const { pictures } = encode(1280, 720, 40);
  expect(pictures.map((unit) => unit[0]! & 31)).toEqual([5, ...Array.from({ length: 39 }, () => 1)]);
  const frameNumbers = pictures.map((unit) => {
    const { fixed, count } = readerOf(unit);
    expect([count(), [5, 7].includes(count()), count()]).toEqual([0, true, 0]);
    return fixed(4);
  });
  expect(frameNumbers).toEqual(Array.from({ length: 40 }, (_, index) => index % 16));
});

test('no unit contains a start code, even if all samples are 0', () => {
  const { pictures, parameters } = encodeBar({ width: 3840, height: 2160 }, [0, 0, 0], 288);
  for (const unit of [...pictures, parameters.sequence, parameters.picture]) {
    expect(unit.toString('hex')).not.toMatch(/^(?:..)*?00000[0-2]/);
  }
});

test('the pictures of four seconds need less than 10 kB', () => {
  const { pictures } = encode(1280, 720, 96);
  expect(pictures.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(10_000);
});
