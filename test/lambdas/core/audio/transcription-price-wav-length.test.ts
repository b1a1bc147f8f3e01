import { expect, test } from 'vitest';
import { wavSecondsAtMost } from '../../../../lambdas/core/audio/transcription-price.ts';
import { wavOf } from '../../../support/audio-samples.ts';

test.for([
  [1.5, {}],
  [2, { rate: 44_100, channels: 2 }],
  [0.25, { bits: 8 }],
  [1, { bits: 24 }],
  [1, { bits: 32, coding: 3 }],
] as const)('BILL-5 a WAV of %d s is as long as its samples (%j)', ([seconds, options]) => {
  expect(wavSecondsAtMost(wavOf(seconds, options))).toBe(seconds);
});

test('BILL-5 chunks before the samples are passed over, with the byte that makes them even', () => {
  const between = Buffer.from('LIST\x03\0\0\0abc\0');
  expect(wavSecondsAtMost(wavOf(1, { between }))).toBe(1);
});

test('BILL-5 a length that the file only claims shortens nothing', () => {
  expect(wavSecondsAtMost(wavOf(10, { claimed: 16 }))).toBe(10);
});

test('BILL-5 a byte rate that is a lie shortens nothing', () => {
  const wav = wavOf(10);
  wav.writeUInt32LE(4_000_000, 28);
  expect(wavSecondsAtMost(wav)).toBe(10);
});

test.for([
  ['no file', Buffer.alloc(0)],
  ['an MP3', Buffer.from('ID3\x04\0\0\0\0\0\0\0\0\0\0')],
  ['compressed', wavOf(1, { coding: 0x11 })],
  ['without bits', wavOf(1, { bits: 0 })],
  ['without channels', wavOf(1, { channels: 0 })],
  ['cut in its head', wavOf(1).subarray(0, 30)],
  ['cut before its samples', wavOf(1).subarray(0, 40)],
  ['with two formats', wavOf(1, { between: wavOf(1, { rate: 192_000 }).subarray(12, 36) })],
  ['with endless chunks', wavOf(1, { between: Buffer.from('LIST\0\0\0\0'.repeat(100)) })],
] as const)('BILL-5 of what is %s the length is not known', ([, bytes]) => {
  expect(wavSecondsAtMost(bytes)).toBeUndefined();
});

test('BILL-5 a file that stands inside of another buffer is read by its own bytes', () => {
  const wav = wavOf(3);
  const buffer = Buffer.concat([Buffer.alloc(7), wav, Buffer.alloc(5_000)]);
  expect(wavSecondsAtMost(buffer.subarray(7, 7 + wav.length))).toBe(3);
});

test.for([
  ['more channels than anybody records', { channels: 9 }],
  ['more samples than anybody records', { rate: 192_001 }],
  ['a coding that hides another', { coding: 0xfffe }],
  ['samples of an odd length', { bits: 12 }],
] as const)('BILL-5 a WAV with %s is not believed', ([, options]) => {
  expect(wavSecondsAtMost(wavOf(1, options))).toBeUndefined();
});

test('BILL-5 frames of another length than their samples are not believed', () => {
  const file = wavOf(1);
  file.writeUInt16LE(file.readUInt16LE(32) + 1, 32);
  expect(wavSecondsAtMost(file)).toBeUndefined();
});
