import { Duration } from 'aws-cdk-lib';
import { type IWidget, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { webFunctionNameOf } from '../constructs/gateway-web-function.ts';
import type { AlarmRow } from './alarm-row.ts';
import { graph } from './graphs.ts';
import { differenceOf, type OwnMetric } from './own-metric.ts';
import type { Sources } from './sources.ts';

const PERIOD = Duration.minutes(5);

/** Error codes of every 5xx response that the program sends itself, with a log record and metrics. */
const told = [
  'internal_error',
  'upstream_error',
  'service_unavailable',
  'model_unavailable',
  'upstream_timeout',
] as const;

/**
 * Returns the counts of 5xx responses.
 * https://docs.aws.amazon.com/lambda/latest/dg/web-functions-monitoring-metrics.html
 */
const failuresOf = ({ prefix, api }: Sources): readonly Metric[] =>
  [...api.webFunctions].map(
    ([name, { endpoint }]) =>
      new Metric({
        namespace: 'AWS/Lambda/Web',
        metricName: 'HTTPResponseStatusClass5XX',
        dimensionsMap: {
          FunctionName: webFunctionNameOf(`${prefix}-${name}`),
          EndpointName: endpoint.resource.endpointName,
        },
        statistic: 'Sum',
        period: PERIOD,
        label: name,
      }),
  );

/**
 * Alarms on crashes of Web Functions. AWS has no metric for these crashes, but clients get a 5xx that the program did
 * not send. The subtracted counts include other functions and streams that broke after a 200, so the alarm undercounts
 * while providers fail.
 */
export const webFunctionAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => {
  const failures = failuresOf(sources);
  if (failures.length === 0) return [];
  return [
    {
      id: 'web-function-errors',
      severity: 'page',
      metric: differenceOf(
        [failures, told.map((code) => own('requests', { of: { code } }))],
        '5xx responses that the program did not send',
      ),
      threshold: { least: 3 },
      periods: 3,
      reason:
        'Web Functions returned 5xx that the program did not send, for 15 minutes. A few come with a deployment, and the two counts may differ at the end of a period.',
    },
  ];
};

/** All usage metrics in the region's namespace. They show quotas of the AWS account and rates of endpoints. */
const quotas = new MathExpression({
  expression: `SEARCH('"AWS/Lambda/Web/Usage"', 'Sum', 300)`,
  usingMetrics: {},
  label: '',
  period: PERIOD,
});

export const webFunctionRow = (sources: Sources): readonly IWidget[] => [
  graph('Web Functions: 5xx responses', failuresOf(sources)),
  graph('Web Functions: use of regional quotas, and throttled requests', [quotas]),
];
