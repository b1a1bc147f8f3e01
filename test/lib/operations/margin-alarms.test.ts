import { expect, test } from 'vitest';
import { marginAlarms } from '../../../lib/operations/margin-alarms.ts';
import { ownMetricsOf } from '../../../lib/operations/own-metric.ts';

test('OPS-3 every model has an alarm for a margin below 0, and each alarm has at most ten models', () => {
  const models = Array.from({ length: 21 }, (_, index) => `model-${index}`);
  const rows = marginAlarms(ownMetricsOf('prod'), models);
  expect(rows.map(({ id }) => id)).toEqual(['sold-below-cost-1', 'sold-below-cost-2', 'sold-below-cost-3']);
  for (const { section, threshold } of rows) expect([section, threshold]).toEqual(['sold-below-cost', { below: 0 }]);
  const named = rows.flatMap(({ metric }) =>
    Object.values(metric.toMetricConfig().mathExpression?.usingMetrics ?? {}).map(
      (each) => each.toMetricConfig().metricStat?.dimensions?.find(({ name }) => name === 'model')?.value,
    ),
  );
  expect(named).toEqual(models);
  expect(rows[2]?.metric.toMetricConfig().mathExpression).toMatchObject({
    expression: 'MIN([FILL(m0, 0)])',
    period: 86_400,
  });
});
