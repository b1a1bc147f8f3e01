import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, type MetricDimension, type MetricName, rowOf } from '../../lambdas/core/metrics.ts';

export interface OwnMetricOptions {
  readonly statistic?: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p50' | 'p95';
  readonly minutes?: number;
  readonly label?: string;
  /** Values of the metric's dimensions: exactly one for each. */
  readonly of?: Readonly<Partial<Record<MetricDimension, string>>>;
}

export type OwnMetric = (name: MetricName, options?: OwnMetricOptions) => Metric;

/**
 * Returns metrics that the functions of one environment emit. Throws an Error if the dimensions differ from those of
 * the metric.
 */
export const ownMetricsOf =
  (prefix: string): OwnMetric =>
  (name, { statistic = 'Sum', minutes = 5, label = name, of = {} } = {}) => {
    const { dimensions } = rowOf(name);
    if (Object.keys(of).sort().join() !== [...dimensions].sort().join())
      throw new Error(`${name}: needs exactly the dimensions ${['service', ...dimensions].join(', ')}.`);
    return new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: name,
      dimensionsMap: { service: prefix, ...of },
      statistic,
      period: Duration.minutes(minutes),
      label,
    });
  };

/** Adds metrics, with 0 for missing data. An alarm supports at most ten metrics. */
export const sumOf = (metrics: readonly IMetric[], label: string, minutes = 5): MathExpression =>
  new MathExpression({
    expression: sumFrom(metrics, 0),
    usingMetrics: toIds(metrics),
    label,
    period: Duration.minutes(minutes),
  });

/** Subtracts the second sum from the first. Together, they may have at most ten metrics. */
export const differenceOf = (
  [more, less]: readonly [readonly IMetric[], readonly IMetric[]],
  label: string,
): MathExpression =>
  new MathExpression({
    expression: `${sumFrom(more, 0)} - ${sumFrom(less, more.length)}`,
    usingMetrics: toIds([...more, ...less]),
    label,
    period: Duration.minutes(5),
  });

/** Returns the lowest of at most ten metrics, with 0 for missing data. */
export const leastOf = (metrics: readonly IMetric[], label: string, minutes: number): MathExpression =>
  new MathExpression({
    expression: `MIN([${filled(metrics, 0)}])`,
    usingMetrics: toIds(metrics),
    label,
    period: Duration.minutes(minutes),
  });

const filled = (metrics: readonly IMetric[], first: number): string =>
  metrics.map((_, index) => `FILL(m${first + index}, 0)`).join(', ');

const sumFrom = (metrics: readonly IMetric[], first: number): string => `SUM([${filled(metrics, first)}])`;

const toIds = (metrics: readonly IMetric[]): Record<string, IMetric> =>
  Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
