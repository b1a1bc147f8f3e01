import { expect, test } from 'vitest';
import { factorAt, factorFor } from '../../../../lambdas/core/pricing/estimate-factor.ts';

const DAY_MS = 86_400_000;

test.each([
  [0, 3.4],
  [0.5, 2.7],
  [1, 2.2],
  [2, 1.6],
  [5, 1.08],
  [6, 1],
  [400, 1],
  [-1, 3.4],
])('BILL-20 after %d days a factor of 3.4 is %d', (days, factor) => {
  expect(factorAt({ factor: 3.4, atMs: 5 }, 5 + days * DAY_MS)).toBe(factor);
});

test('BILL-20 the factor is 1 before the first overage, and between 1 and 4 after it', () => {
  expect(factorAt(undefined, 0)).toBe(1);
  for (const [factor, expected] of [
    [1, 1],
    [0.2, 1],
    [9, 4],
  ] as const)
    expect(factorAt({ factor, atMs: 0 }, 0)).toBe(expected);
  for (let tenths = 11; tenths <= 40; tenths += 1)
    expect(factorAt({ factor: tenths / 10, atMs: 0 }, 0)).toBe(tenths / 10);
});

test.each([
  [335, 100, 3.4],
  [340, 100, 3.4],
  [341, 100, 3.5],
  [110, 100, 1.1],
  [101, 100, 1.1],
  [100, 100, 1],
  [40, 100, 1],
  [900, 100, 4],
  [3, 0, 3],
])('BILL-20 %d counted and %d estimated tokens give a factor of %d', (counted, estimated, factor) => {
  expect(factorFor(counted, estimated)).toBe(factor);
});
