import { expect, test } from 'vitest';
import { retryAfterSeconds } from '../../../lambdas/providers/vendor-call.ts';

const now = Date.parse('2026-11-01T12:00:00Z');

test.for([
  ['7', 7],
  [' 7 ', 7],
  ['1.2', 2],
  ['0', 1],
  ['-5', 1],
  ['300', 300],
  ['301', 300],
  ['99999999999999999999', 300],
  ['Sun, 01 Nov 2026 12:00:40 GMT', 40],
  ['Sun, 01 Nov 2026 12:00:00 GMT', 1],
  ['Sun, 01 Nov 2020 12:00:00 GMT', 1],
  ['Mon, 02 Nov 2026 12:00:00 GMT', 300],
] as const)('ERR-2 the provider sends %j, the client gets %i', ([header, seconds]) => {
  expect(retryAfterSeconds(header, now, () => Number.NaN)).toBe(seconds);
});

test('ERR-2 the first of several headers is used', () => {
  expect(retryAfterSeconds(['9', '11'], now, () => Number.NaN)).toBe(9);
});

test.for([undefined, '', 'soon', 'NaN', '1e3', '0x10', '5 s', 'Infinity', []])(
  'ERR-2 %j is not a valid value: 5 to 30 seconds at random',
  (header) => {
    const at = (random: number) => retryAfterSeconds(header, now, () => random);
    expect([at(0), at(0.5), at(0.999_999)]).toEqual([5, 18, 30]);
  },
);
