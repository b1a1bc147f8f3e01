import { Metrics } from '@aws-lambda-powertools/metrics';
import { METRIC_NAMESPACE, type MetricDimension, type MetricName, metrics } from '../../metrics.ts';

export type MetricValues = Readonly<Partial<Record<MetricName, number>>>;
export type DimensionValues = Readonly<Partial<Record<MetricDimension, string>>>;

/**
 * Writes one line of CloudWatch's embedded metric format, with all that has the same dimensions. Nothing is awaited between the first
 * value and the line, so that requests of one process never mix. The dimension `service` is POWERTOOLS_SERVICE_NAME.
 */
export const createPublisher = () => {
  const writer = new Metrics({ namespace: METRIC_NAMESPACE });
  return (values: MetricValues, dimensions: DimensionValues = {}): void => {
    const present = [...metrics].filter(([name]) => values[name] !== undefined);
    if (present.length === 0) return;
    for (const [dimension, value] of Object.entries(dimensions)) writer.addDimension(dimension, value);
    for (const [name, { unit }] of present) writer.addMetric(name, unit, values[name] ?? 0);
    writer.publishStoredMetrics();
  };
};
