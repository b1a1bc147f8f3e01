import { expect, test } from 'vitest';
import { sniffAudio } from '../../../../lambdas/core/audio/audio-wire.ts';
import { wavOf } from '../../../support/audio-samples.ts';

test.for([
  ['wav', wavOf(0.1)],
  ['flac', Buffer.from('fLaC\0\0\0\x22')],
  ['ogg', Buffer.from('OggS\0\x02')],
  ['m4a', Buffer.from('\0\0\0\x20ftypM4A \0')],
  ['mp4', Buffer.from('\0\0\0\x20ftypisom\0')],
  ['webm', Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x9f])],
  ['mp3', Buffer.from('ID3\x04\0')],
  ['mp3', Buffer.from([0xff, 0xfb, 0x90, 0x64])],
  ['mp3', Buffer.from([0xff, 0xf3, 0x84, 0xc4])],
  [undefined, Buffer.from([0xff, 0xf1, 0x58, 0x40])],
  [undefined, Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  [undefined, Buffer.from('RIFF\0\0\0\0WEBP')],
  [undefined, Buffer.from('hello')],
  [undefined, Buffer.alloc(0)],
] as const)('AUD-1 the first bytes of a recording identify its format as %s', ([format, bytes]) => {
  expect(sniffAudio(bytes)).toBe(format);
});
