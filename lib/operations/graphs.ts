import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, type MetricName, rowOf } from '../../lambdas/core/metrics.ts';

const HALF = 12;
const HEIGHT = 6;
const ALL = 24;

export const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, left: [...left], right: [...right], width: HALF, height: HEIGHT });

export const heading = (markdown: string): IWidget => new TextWidget({ markdown, width: ALL, height: 1 });

/** One line for each value of the one dimension that the metric has. An alarm cannot look for its metrics so. */
export const byDimension = (prefix: string, name: MetricName, statistic: string): IMetric => {
  const { dimensions } = rowOf(name);
  const schema = [METRIC_NAMESPACE, ...dimensions, 'service'].join(',');
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${name}" service="${prefix}"', '${statistic}', 300)`,
    usingMetrics: {},
    label: `${statistic} `,
    period: Duration.minutes(5),
  });
};

/** What the log knows and no metric has as a dimension: models, circuits, accounts. */
export const table = (title: string, logGroupNames: readonly string[], queryLines: readonly string[]): IWidget =>
  new LogQueryWidget({
    title,
    logGroupNames: [...logGroupNames],
    queryLines: [...queryLines],
    view: LogQueryVisualizationType.TABLE,
    width: ALL,
    height: HEIGHT,
  });
