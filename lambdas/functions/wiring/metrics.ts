import { Metrics } from '@aws-lambda-powertools/metrics';
import {
  METRIC_NAMESPACE,
  type MetricDimension,
  type MetricName,
  type MetricRow,
  metrics,
} from '../../core/metrics.ts';

type MetricValues = Readonly<Partial<Record<MetricName, number>>>;
export type DimensionValues = Readonly<Partial<Record<MetricDimension, string>>>;

/** To be asked by the keys of an object, which are any text to the compiler. */
const rows: ReadonlyMap<string, MetricRow> = metrics;

/**
 * Writes one line of CloudWatch's embedded metric format, with all that has the same dimensions. Nothing is awaited between the first
 * value and the line, so that requests of one process never mix. The dimension `service` is POWERTOOLS_SERVICE_NAME.
 */
export const createPublisher = () => {
  const writer = new Metrics({ namespace: METRIC_NAMESPACE });
  return (values: MetricValues, dimensions: DimensionValues = {}): void => {
    const present = Object.entries(values).flatMap(([name, value]) => {
      const unit = rows.get(name)?.unit;
      return unit === undefined || value === undefined ? [] : [{ name, unit, value }];
    });
    if (present.length === 0) return;
    for (const [dimension, value] of Object.entries(dimensions)) writer.addDimension(dimension, value);
    for (const { name, unit, value } of present) writer.addMetric(name, unit, value);
    writer.publishStoredMetrics();
  };
};
