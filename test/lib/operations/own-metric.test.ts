import { expect, test } from 'vitest';
import { differenceOf, leastOf, ownMetricsOf, sumOf } from '../../../lib/operations/own-metric.ts';

const own = ownMetricsOf('prod');
const two = [own('overage'), own('usage_missing')];
const mathOf = (metric: ReturnType<typeof sumOf>) => metric.toMetricConfig().mathExpression;

test('OPS-3 missing data counts as 0 in sums, differences and minimums', () => {
  expect(mathOf(sumOf(two, 'sum'))?.expression).toBe('SUM([FILL(m0, 0), FILL(m1, 0)])');
  expect(mathOf(leastOf(two, 'least', 60))).toMatchObject({
    expression: 'MIN([FILL(m0, 0), FILL(m1, 0)])',
    period: 3_600,
  });
  expect(mathOf(differenceOf([two, two], 'difference'))?.expression).toBe(
    'SUM([FILL(m0, 0), FILL(m1, 0)]) - SUM([FILL(m2, 0), FILL(m3, 0)])',
  );
});

test('OPS-3 a metric needs exactly its dimensions', () => {
  expect(() => own('margin_micro_usd')).toThrow('needs exactly the dimensions service, model');
  expect(own('margin_micro_usd', { of: { model: 'gpt-5.5' } }).dimensions).toEqual({
    service: 'prod',
    model: 'gpt-5.5',
  });
});
