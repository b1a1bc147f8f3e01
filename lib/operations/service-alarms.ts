import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { GatewayTable } from '../constructs/gateway-table.ts';
import { functionsOf } from '../environment-schema.ts';
import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';
import type { Sources } from './sources.ts';
import { webFunctionAlarms } from './web-functions.ts';

const PERIOD = Duration.minutes(5);

/** Below so many requests a part of them says nothing. */
const REQUESTS_MIN = 20;

export const serviceAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => [
  {
    id: 'internal-errors',
    metric: own('requests', { of: { code: 'internal_error' } }),
    threshold: { least: 3 },
    reason: 'Each is a bug or a charge that came too late, and has a cause in the log.',
  },
  {
    id: 'failing-requests',
    metric: new MathExpression({
      expression: `IF(count >= ${REQUESTS_MIN}, part, 0)`,
      usingMetrics: {
        count: own('failed_by_us', { statistic: 'SampleCount' }),
        part: own('failed_by_us', { statistic: 'Average' }),
      },
      label: 'part of the requests that we failed',
      period: PERIOD,
    }),
    threshold: { least: 0.05 },
    periods: 3,
    wrong: 2,
    reason: `One request in twenty, of ${REQUESTS_MIN} and more, is what clients notice.`,
  },
  ...functionErrors(sources),
  ...webFunctionAlarms(own, sources),
  ...messageAlarms(own, sources),
  {
    id: 'functions-throttled',
    // Of the account and region: what is short is a quota that all functions share.
    metric: LambdaFunction.metricAllThrottles({ statistic: 'Sum', period: PERIOD }),
    threshold: { least: 10 },
    reason: 'Clients get a bare 429 of AWS; a few may be the moment in which new environments start.',
  },
  {
    id: 'tables-throttled',
    metric: sumOf(Object.values(sources.data.tables).flatMap(throttlesOf), 'throttled reads and writes'),
    threshold: { least: 10 },
    reason: 'Tables on demand double their capacity by themselves; ten within 5 minutes are one hot item or a quota.',
  },
  {
    id: 'tables-failing',
    metric: sumOf(systemErrorsOf(sources.data.tables), 'errors of DynamoDB itself'),
    threshold: { least: 5 },
    reason: 'Single ones are repeated without anybody noticing.',
  },
  {
    id: 'failed-executions',
    metric: sumOf(
      [
        sources.video.machine.metricFailed({ period: PERIOD }),
        sources.video.machine.metricTimedOut({ period: PERIOD }),
        sources.video.machine.metricAborted({ period: PERIOD }),
      ],
      'executions that did not end by themselves',
    ),
    threshold: { least: 1 },
    reason: 'A video that fails ends its execution well, so that one which fails is a bug or an outage.',
  },
];

/** To owners of accounts. */
const messageAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => [
  {
    id: 'failed-account-changes',
    metric: sources.api.failedAccountChanges.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period: PERIOD,
    }),
    threshold: { least: 1 },
    reason: 'What is in that queue is tried by nobody any more, and is gone after 14 days.',
  },
  {
    id: 'notices-failing',
    metric: sumOf(
      [
        own('notice_failed', { minutes: 15 }),
        own('notice_refused', { minutes: 15 }),
        own('bot_message_failed', { minutes: 15 }),
        own('bot_message_refused', { minutes: 15 }),
      ],
      'messages that were not taken',
      15,
    ),
    threshold: { least: 10 },
    reason:
      'Single ones pass or concern one chat; ten within 15 minutes are a wrong token or a messenger that is down.',
  },
  {
    id: 'account-changes-unreadable',
    metric: own('account_change_unreadable'),
    threshold: { least: 1 },
    reason: 'It holds up its shard, and follows a deployment that has to be taken back soon.',
  },
];

/** Apart, since clients notice the one kind, and money waits for the other; and since an alarm takes ten metrics at most. */
const functionErrors = ({ environment, api, video }: Sources): readonly AlarmRow[] => {
  const isCalled = new Map(
    functionsOf(environment).events.map(({ name, description }) => [name, description.trigger === 'url']),
  );
  const errorsOf = (called: boolean): readonly IMetric[] =>
    [...api.lambdas]
      .filter(([name]) => isCalled.get(name) === called)
      .map(([, lambda]) => lambda.metricErrors({ statistic: 'Sum', period: PERIOD }));
  return [
    {
      id: 'function-errors',
      metric: sumOf(errorsOf(true), 'requests that crashed or ran out of time'),
      threshold: { least: 3 },
      reason: 'An error that a client is told of is none of these; one crash may come with a deployment.',
    },
    {
      id: 'background-errors',
      metric: sumOf(
        [...errorsOf(false), video.steps.metricErrors({ statistic: 'Sum', period: PERIOD })],
        'runs that crashed or ran out of time',
      ),
      threshold: { least: 3 },
      periods: 2,
      reason: 'The next run does what one has left; more than a few in ten minutes do not pass by themselves.',
    },
  ];
};

const throttlesOf = (table: GatewayTable): readonly IMetric[] =>
  ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
    (metricName) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: table.tableName },
        statistic: 'Sum',
        period: PERIOD,
      }),
  );

/** Of what a request waits for. */
const operations = {
  accounts: ['GetItem', 'PutItem', 'UpdateItem', 'TransactWriteItems'],
  keys: ['GetItem', 'UpdateItem'],
  idempotency: ['GetItem', 'PutItem', 'UpdateItem'],
} as const;

const systemErrorsOf = (tables: Sources['data']['tables']): readonly IMetric[] =>
  (['accounts', 'keys', 'idempotency'] as const).flatMap((table) =>
    operations[table].map(
      (Operation) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName: 'SystemErrors',
          dimensionsMap: { TableName: tables[table].tableName, Operation },
          statistic: 'Sum',
          period: PERIOD,
        }),
    ),
  );
