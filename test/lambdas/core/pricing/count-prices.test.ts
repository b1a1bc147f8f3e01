import { expect, test } from 'vitest';
import { priceOfCount, sumOfCounts } from '../../../../lambdas/core/pricing/count-prices.ts';

test.each([
  ['input', 5n],
  ['cacheRead', 1n],
  ['cacheWrite', 5n],
  ['audioInput', 5n],
  ['reasoning', 7n],
  ['imageOutput', 7n],
  ['image', 0n],
])('BILL-15 a %s costs its own price, or that of its kind', (count, expected) => {
  expect(priceOfCount(count, { input: 5n, cacheRead: 1n, output: 7n })).toBe(expected);
});

test('BILL-15 the sum has every count at its price', () => {
  const counts = { input: 2, cacheRead: 3, reasoning: 4, absent: undefined };
  expect(sumOfCounts(counts, { input: 5n, cacheRead: 1n, output: 7n })).toBe(10n + 3n + 28n);
});
