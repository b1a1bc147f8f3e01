import { expect, test } from 'vitest';
import { wavSecondsAtMost } from '../../../../lambdas/core/audio/transcription-price.ts';
import { wavOf } from '../../../support/audio-samples.ts';

test.for([
  [1.5, {}],
  [2, { rate: 44_100, channels: 2 }],
  [0.25, { bits: 8 }],
  [1, { bits: 24 }],
  [1, { bits: 32, coding: 3 }],
] as const)('BILL-5 the length of a WAV of %d s is the length of its samples (%j)', ([seconds, options]) => {
  expect(wavSecondsAtMost(wavOf(seconds, options))).toBe(seconds);
});

test('BILL-5 chunks before the samples are skipped, including their padding byte', () => {
  const between = Buffer.from('LIST\x03\0\0\0abc\0');
  expect(wavSecondsAtMost(wavOf(1, { between }))).toBe(1);
});

test('BILL-5 a false length in the header does not shorten the file', () => {
  expect(wavSecondsAtMost(wavOf(10, { claimed: 16 }))).toBe(10);
});

test('BILL-5 a false byte rate does not shorten the file', () => {
  const wav = wavOf(10);
  wav.writeUInt32LE(4_000_000, 28);
  expect(wavSecondsAtMost(wav)).toBe(10);
});

test.for([
  ['an empty file', Buffer.alloc(0)],
  ['an MP3', Buffer.from('ID3\x04\0\0\0\0\0\0\0\0\0\0')],
  ['a compressed file', wavOf(1, { coding: 0x11 })],
  ['a file without bits per sample', wavOf(1, { bits: 0 })],
  ['a file without channels', wavOf(1, { channels: 0 })],
  ['a file cut in its header', wavOf(1).subarray(0, 30)],
  ['a file cut before its samples', wavOf(1).subarray(0, 40)],
  ['a file with two formats', wavOf(1, { between: wavOf(1, { rate: 192_000 }).subarray(12, 36) })],
  ['a file with too many chunks', wavOf(1, { between: Buffer.from('LIST\0\0\0\0'.repeat(100)) })],
] as const)('BILL-5 the length of %s is unknown', ([, bytes]) => {
  expect(wavSecondsAtMost(bytes)).toBeUndefined();
});

test('BILL-5 the length of a file inside a larger buffer is computed from its own bytes only', () => {
  const wav = wavOf(3);
  const buffer = Buffer.concat([Buffer.alloc(7), wav, Buffer.alloc(5_000)]);
  expect(wavSecondsAtMost(buffer.subarray(7, 7 + wav.length))).toBe(3);
});

test.for([
  ['9 channels', { channels: 9 }],
  ['a sample rate above 192,000 Hz', { rate: 192_001 }],
  ['an extensible format', { coding: 0xfffe }],
  ['12-bit samples', { bits: 12 }],
] as const)('BILL-5 the length of a WAV with %s is unknown', ([, options]) => {
  expect(wavSecondsAtMost(wavOf(1, options))).toBeUndefined();
});

test('BILL-5 the length is unknown when frame size and sample size disagree', () => {
  const file = wavOf(1);
  file.writeUInt16LE(file.readUInt16LE(32) + 1, 32);
  expect(wavSecondsAtMost(file)).toBeUndefined();
});
