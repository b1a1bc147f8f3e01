import { expect, test } from 'vitest';
import {
  type BalanceChange,
  isCrossing,
  LOW_BALANCE_THRESHOLD_DEFAULT,
} from '../../../../lambdas/core/accounts/low-balance.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';

const change = (beforePicos: bigint, afterPicos: bigint, thresholdPicos = 100n): BalanceChange => ({
  accountId: 'account-1',
  chatId: 'chat-1',
  version: 2,
  beforePicos,
  afterPicos,
  thresholdPicos,
});

test('KEY-3 the default threshold of an account is 1 USD', () => {
  expect(LOW_BALANCE_THRESHOLD_DEFAULT).toBe(PICOS_PER_USD);
});

test.each([
  [101n, 100n, true],
  [101n, 99n, true],
  [1_000n, -50n, true],
  [100n, 99n, false],
  [100n, 100n, false],
  [102n, 101n, false],
  [101n, 101n, false],
  [99n, 50n, false],
  [99n, 101n, false],
  [100n, 101n, false],
  [0n, 0n, false],
  [-1n, 0n, false],
])('KEY-3 from %s to %s with a threshold of 100 is a crossing: %s', (before, after, crosses) => {
  expect(isCrossing(change(before, after))).toBe(crosses);
});

test('KEY-3 no balance crosses a threshold of 0, and a fall to 1 pico-USD crosses one of 1', () => {
  for (const [before, after] of [
    [1n, 0n],
    [1n, -1n],
    [0n, -1n],
    [PICOS_PER_USD, 0n],
  ] as const) {
    expect(isCrossing(change(before, after, 0n))).toBe(false);
  }
  expect(isCrossing(change(2n, 1n, 1n))).toBe(true);
  expect(isCrossing(change(1n, 0n, 1n))).toBe(false);
});

test('KEY-3 a balance that falls, is credited and falls again crosses the threshold twice', () => {
  const balances = [300n, 150n, 100n, 40n, 0n, 90n, 400n, 101n, 100n, 100n, 99n];
  const crossings = balances.flatMap((after, at) => {
    const before = balances[at - 1];
    return before !== undefined && isCrossing(change(before, after)) ? [at] : [];
  });
  expect(crossings).toEqual([2, 8]);
});

test('KEY-3 thresholds above the exact range of a number are compared exactly', () => {
  const threshold = 9_007_199_254_740_993n;
  expect(isCrossing(change(threshold + 1n, threshold, threshold))).toBe(true);
  expect(isCrossing(change(threshold, threshold - 1n, threshold))).toBe(false);
});
