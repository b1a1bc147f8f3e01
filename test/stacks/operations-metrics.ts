import * as z from 'zod';
import { METRIC_NAMESPACE } from '../../lambdas/core/metrics.ts';
import { ofType, type Resource, type Synthesized } from './synthesize.ts';

/** Metric in a template. A dimension without a value is one that a search expands. */
export interface NamedMetric {
  readonly where: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string | undefined>>;
}

const dimensionsSchema = z.array(z.object({ Name: z.string(), Value: z.unknown() })).default([]);
const metricSchema = z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions: dimensionsSchema });
const alarmSchema = z.union([
  z.object({
    Metrics: z.array(
      z.looseObject({ Expression: z.string().optional(), MetricStat: z.object({ Metric: metricSchema }).optional() }),
    ),
  }),
  metricSchema.transform((Metric) => ({ Metrics: [{ Expression: undefined, MetricStat: { Metric } }] })),
]);

const own = (where: string, { Namespace, MetricName, Dimensions }: z.output<typeof metricSchema>): NamedMetric[] =>
  Namespace === METRIC_NAMESPACE
    ? [
        {
          where,
          name: MetricName,
          dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, String(Value)])),
        },
      ]
    : [];

/** Returns the number of metrics that AWS bills for an alarm. At most ten are allowed. */
export const metricsOfAlarm = ({ Properties }: Resource): number =>
  alarmSchema.parse(Properties).Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length;

const ofAlarm = ({ Properties }: Resource): readonly NamedMetric[] =>
  alarmSchema
    .parse(Properties)
    .Metrics.flatMap(({ MetricStat }) => (MetricStat ? own(String(Properties.AlarmName), MetricStat.Metric) : []));

const joinSchema = z.object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) });
const bodySchema = z.object({
  widgets: z.array(
    z.looseObject({ properties: z.looseObject({ metrics: z.array(z.array(z.unknown())).default([]) }) }),
  ),
});

/** Returns the text with a placeholder for every value that only AWS knows. */
const bodyOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : joinSchema
        .parse(value)
        ['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'known-to-aws'))
        .join('');

const optionsSchema = z.looseObject({ expression: z.string().optional() });

/** Reads a search such as `SEARCH('{Namespace,dimension,dimension} MetricName="name" dimension="value"', ...)`. */
const ofExpression = (where: string, expression: string): readonly NamedMetric[] =>
  [...expression.matchAll(/SEARCH\('\{([^}]+)\} ([^']+)'/g)].flatMap(([, schema = '', terms = '']) => {
    const [Namespace = '', ...names] = schema.split(',');
    const values = new Map([...terms.matchAll(/(\w+)="([^"]+)"/g)].map(([, key = '', value = '']) => [key, value]));
    if (Namespace !== METRIC_NAMESPACE) return [];
    const dimensions = Object.fromEntries(names.map((name) => [name, values.get(name)]));
    return [{ where, name: values.get('MetricName') ?? '', dimensions }];
  });

/**
 * Reads a metric line `[namespace, name, dimension, value, ..., options]`, or only options for an expression. CDK does
 * not abbreviate repeated values with `.`.
 */
const ofLine = (where: string, line: readonly unknown[]): readonly NamedMetric[] => {
  const words = line.filter((word) => typeof word === 'string');
  const options = optionsSchema.parse(line.find((word) => typeof word === 'object') ?? {});
  const [Namespace, MetricName, ...rest] = words;
  if (Namespace === undefined || MetricName === undefined) return ofExpression(where, options.expression ?? '');
  const Dimensions = rest.flatMap((Name, index) => (index % 2 === 0 ? [{ Name, Value: rest[index + 1] }] : []));
  return own(where, { Namespace, MetricName, Dimensions });
};

const ofDashboard = ({ Properties }: Resource): readonly NamedMetric[] => {
  const where = String(Properties.DashboardName);
  const { widgets } = bodySchema.parse(JSON.parse(bodyOf(Properties.DashboardBody)));
  return widgets.flatMap(({ properties }) => properties.metrics.flatMap((line) => ofLine(where, line)));
};

export const inAlarms = (stack: Synthesized): readonly NamedMetric[] =>
  ofType(stack, 'AWS::CloudWatch::Alarm').flatMap(ofAlarm);

export const inDashboards = (stack: Synthesized): readonly NamedMetric[] =>
  ofType(stack, 'AWS::CloudWatch::Dashboard').flatMap(ofDashboard);
