import { Duration } from 'aws-cdk-lib';
import { type IWidget, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { webFunctionNameOf } from '../constructs/gateway-web-function.ts';
import type { AlarmRow } from './alarm-row.ts';
import { graph } from './graphs.ts';
import { differenceOf, type OwnMetric } from './own-metric.ts';
import type { Sources } from './sources.ts';

const PERIOD = Duration.minutes(5);

/** Every 5xx that the program gives by itself, and has in its log and its metrics. */
const told = [
  'internal_error',
  'upstream_error',
  'service_unavailable',
  'model_unavailable',
  'upstream_timeout',
] as const;

/** Answers of 5xx. https://docs.aws.amazon.com/lambda/latest/dg/web-functions-monitoring-metrics.html */
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
 * A Web Function has no count of its crashes: what a client gets then is a 5xx that the program knows nothing of. Those that it does know
 * are those of all functions and of streams that broke after their 200, so that this says too little while vendors fail.
 */
export const webFunctionAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => {
  const failures = failuresOf(sources);
  if (failures.length === 0) return [];
  return [
    {
      id: 'web-function-errors',
      metric: differenceOf(
        [failures, told.map((code) => own('requests', { of: { code } }))],
        'answers of 5xx that the program did not give',
      ),
      threshold: { least: 3 },
      periods: 3,
      reason: 'A few come with a deployment, and what the two sides count at the end of a period may differ.',
    },
  ];
};

/** All that is in that namespace, which is the region's: what is short is a quota of the AWS account, or the rate of an endpoint. */
const quotas = new MathExpression({
  expression: `SEARCH('"AWS/Lambda/Web/Usage"', 'Sum', 300)`,
  usingMetrics: {},
  label: '',
  period: PERIOD,
});

export const webFunctionRow = (sources: Sources): readonly IWidget[] => [
  graph('Web Functions, answers of 5xx', failuresOf(sources)),
  graph("Web Functions, use of the region's quotas and what they turned away", [quotas]),
];
