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

/** Returns one line for each value of the metric's dimension. Alarms cannot use such a search. */
export const byDimension = (prefix: string, name: MetricName, statistic: string, minutes = 5): IMetric => {
  const { dimensions } = rowOf(name);
  const schema = [METRIC_NAMESPACE, ...dimensions, 'service'].join(',');
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${name}" service="${prefix}"', '${statistic}', ${minutes * 60})`,
    usingMetrics: {},
    label: `${statistic} `,
    period: Duration.minutes(minutes),
  });
};

/** Table of a log query, for values that are not metric dimensions: models, circuits, accounts. */
export const table = (title: string, logGroupNames: readonly string[], queryLines: readonly string[]): IWidget =>
  new LogQueryWidget({
    title,
    logGroupNames: [...logGroupNames],
    queryLines: [...queryLines],
    view: LogQueryVisualizationType.TABLE,
    width: ALL,
    height: HEIGHT,
  });
