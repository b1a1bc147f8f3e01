import { expect, test } from 'vitest';
import { sniffImage } from '../../../lambdas/core/image-type.ts';

const starts = [
  ['image/png', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['image/jpeg', Buffer.from('ffd8ff', 'hex')],
  ['image/webp', Buffer.from('524946460000000057454250', 'hex')],
] as const;

test.for(starts)('CHAT-6 %s is recognized by its first bytes', ([type, start]) => {
  expect(sniffImage(start)).toBe(type);
  expect(sniffImage(Buffer.concat([start, Buffer.alloc(40)]))).toBe(type);
});

test.for(starts)('CHAT-6 %s with missing or wrong first bytes is not recognized', ([, start]) => {
  for (let length = 0; length < start.length; length += 1)
    expect(sniffImage(start.subarray(0, length))).toBeUndefined();
  for (const at of start.keys()) {
    if (start[at] === 0) continue; // the size field of a WebP may have any value
    const broken = Buffer.from(start);
    broken[at] = 0;
    expect(sniffImage(broken)).toBeUndefined();
  }
});

test.for([
  ['GIF', '474946383961'],
  ['BMP', '424d'],
  ['WAV', '524946460000000057415645'],
  ['AVIF', '0000001c6674797061766966'],
  ['SVG', '3c737667'],
  ['HTML', '3c21646f63747970652068746d6c3e'],
  ['an image after one extra byte', '0089504e470d0a1a0a'],
])('CHAT-6 %s is not recognized', ([, start]) => {
  expect(sniffImage(Buffer.from(start!, 'hex'))).toBeUndefined();
});
