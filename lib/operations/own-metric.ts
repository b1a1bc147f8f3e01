import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, type MetricDimension, type MetricName, rowOf } from '../../lambdas/core/metrics.ts';

export interface OwnMetricOptions {
  readonly statistic?: 'Sum' | 'Average' | 'Maximum' | 'SampleCount' | 'p50' | 'p95';
  readonly minutes?: number;
  readonly label?: string;
  /** One value for each dimension that the metric has, and for no other. */
  readonly of?: Readonly<Partial<Record<MetricDimension, string>>>;
}

export type OwnMetric = (name: MetricName, options?: OwnMetricOptions) => Metric;

/** Metrics that the functions of one environment emit. Throws an Error for dimensions that the metric is not emitted with. */
export const ownMetricsOf =
  (prefix: string): OwnMetric =>
  (name, { statistic = 'Sum', minutes = 5, label = name, of = {} } = {}) => {
    const { dimensions } = rowOf(name);
    if (Object.keys(of).sort().join() !== [...dimensions].sort().join())
      throw new Error(`${name}: is emitted by ${['service', ...dimensions].join(', ')}`);
    return new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: name,
      dimensionsMap: { service: prefix, ...of },
      statistic,
      period: Duration.minutes(minutes),
      label,
    });
  };

/** Of metrics that are seldom there: nothing counts as 0. An alarm takes ten at most. */
export const sumOf = (metrics: readonly IMetric[], label: string, minutes = 5): MathExpression =>
  new MathExpression({
    expression: sumFrom(metrics, 0),
    usingMetrics: toIds(metrics),
    label,
    period: Duration.minutes(minutes),
  });

/** The first less the second, and together as many as those of a sum. */
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

const sumFrom = (metrics: readonly IMetric[], first: number): string =>
  `SUM([${metrics.map((_, index) => `FILL(m${first + index}, 0)`).join(', ')}])`;

const toIds = (metrics: readonly IMetric[]): Record<string, IMetric> =>
  Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
