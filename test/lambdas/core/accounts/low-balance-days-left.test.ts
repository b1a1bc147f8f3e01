import fc from 'fast-check';
import { expect, test } from 'vitest';
import { daysLeft, PACE_SPAN_MS } from '../../../../lambdas/core/accounts/low-balance.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 100, long: 5_000 });
const DAY_MS = 86_400_000;

test.for([
  ['10', '7', PACE_SPAN_MS, 10],
  ['10', '3', PACE_SPAN_MS, 23.3],
  ['10', '3.5', PACE_SPAN_MS, 20],
  ['0.000000000001', '1000000', PACE_SPAN_MS, 0],
  ['10', '10', DAY_MS, 1],
  ['10', '10', 0, 0],
  ['0', '1', PACE_SPAN_MS, 0],
  ['-5', '1', PACE_SPAN_MS, 0],
  ['10', '0', PACE_SPAN_MS, null],
  ['-1', '0', PACE_SPAN_MS, null],
] as const)('KEY-4 %s USD after %s USD were spent in %i ms last %s days', ([balance, spent, spanMs, days]) => {
  const pace = { balancePicos: parseUsd(balance), spentPicos: parseUsd(spent), spanMs };
  expect(daysLeft({ ...pace, historyMs: PACE_SPAN_MS })).toBe(days);
});

test('KEY-4 the days are known from a day of history, which is then the span of the pace', () => {
  const pace = { balancePicos: parseUsd('10'), spentPicos: parseUsd('1'), spanMs: PACE_SPAN_MS };
  expect(daysLeft({ ...pace, historyMs: DAY_MS - 1 })).toBeNull();
  expect(daysLeft({ ...pace, historyMs: DAY_MS })).toBe(10);
  expect(daysLeft({ ...pace, historyMs: 30 * DAY_MS })).toBe(70);
});

test('KEY-4 the days have at most one decimal and never exceed what the balance pays for', () => {
  const picos = fc.bigInt({ min: 10n ** 4n, max: 10n ** 16n });
  fc.assert(
    fc.property(picos, picos, (balancePicos, spentPicos) => {
      const days = daysLeft({ balancePicos, spentPicos, spanMs: PACE_SPAN_MS, historyMs: PACE_SPAN_MS }) ?? -1;
      const tenths = BigInt(Math.round(days * 10));
      expect(days * 10).toBeCloseTo(Number(tenths), 1);
      expect(tenths * spentPicos <= balancePicos * 70n).toBe(true);
      expect((tenths + 1n) * spentPicos > balancePicos * 70n).toBe(true);
    }),
    runs,
  );
});
