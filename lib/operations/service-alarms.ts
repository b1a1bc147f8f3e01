import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { functionsOf, hasCanary } from '../environment-schema.ts';
import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';
import type { Sources } from './sources.ts';
import { webFunctionAlarms } from './web-functions.ts';

const PERIOD = Duration.minutes(5);

/** Minimum number of requests for a meaningful failure rate. */
const REQUESTS_MIN = 20;

export const serviceAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => [
  {
    id: 'internal-errors',
    severity: 'ticket',
    metric: own('requests', { of: { code: 'internal_error' } }),
    threshold: { least: 3 },
    reason: 'Each internal error is a bug or a late charge, and its cause is in the log.',
  },
  {
    id: 'failing-requests',
    severity: 'ticket',
    metric: new MathExpression({
      expression: `IF(count >= ${REQUESTS_MIN}, part, 0)`,
      usingMetrics: {
        count: own('failed_by_us', { statistic: 'SampleCount' }),
        part: own('failed_by_us', { statistic: 'Average' }),
      },
      label: 'share of requests failed by the gateway',
      period: PERIOD,
    }),
    threshold: { least: 0.05 },
    periods: 3,
    wrong: 2,
    reason: `Clients notice a failure rate of 5 % of ${REQUESTS_MIN} or more requests.`,
  },
  {
    id: 'client-ip-missing',
    severity: 'ticket',
    metric: own('client_ip_missing'),
    threshold: { least: 1 },
    reason: 'Without the client IP of the front door, only the firewall limits clients without an API key.',
  },
  ...canaryAlarms(own, sources),
  ...functionErrors(sources),
  ...webFunctionAlarms(own, sources),
  ...messageAlarms(own, sources),
  ...usageEventAlarms(own, sources),
  {
    id: 'functions-throttled',
    severity: 'page',
    // Metric of the account and region, because the functions share the concurrency quota.
    metric: LambdaFunction.metricAllThrottles({ statistic: 'Sum', period: PERIOD }),
    threshold: { least: 10 },
    periods: 3,
    reason: 'Clients get a plain 429 from AWS. For 15 minutes, more calls were rejected than a burst explains.',
  },
  {
    id: 'tables-throttled',
    severity: 'ticket',
    metric: sumOf(Object.values(sources.data.tables).flatMap(throttlesOf), 'throttled reads and writes'),
    threshold: { least: 10 },
    reason: 'On-demand tables double their capacity automatically; ten within 5 minutes mean a hot item or a quota.',
  },
  {
    id: 'tables-failing',
    severity: 'ticket',
    metric: sumOf(systemErrorsOf(sources.data.tables), 'internal errors of DynamoDB'),
    threshold: { least: 5 },
    reason:
      'Single internal errors of DynamoDB are retried without effect on clients. Five within 5 minutes are more than that.',
  },
  {
    id: 'failed-executions',
    severity: 'ticket',
    metric: sumOf(
      [
        sources.video.machine.metricFailed({ period: PERIOD }),
        sources.video.machine.metricTimedOut({ period: PERIOD }),
        sources.video.machine.metricAborted({ period: PERIOD }),
      ],
      'failed, timed-out and aborted executions',
    ),
    threshold: { least: 1 },
    reason: 'A failed video ends its execution successfully, so a failed execution is a bug or an outage.',
  },
];

const canaryAlarms = (own: OwnMetric, { environment }: Sources): readonly AlarmRow[] =>
  hasCanary(environment)
    ? [
        {
          id: 'canary-failing',
          severity: 'page',
          metric: own('canary_ok', { statistic: 'Minimum' }),
          threshold: { below: 1 },
          periods: 2,
          silence: 'wrong',
          reason: 'Two runs of the canary in a row failed or did not end, so clients notice it too.',
        },
      ]
    : [];

/** Alarms on messages to account owners. */
const messageAlarms = (own: OwnMetric, sources: Sources): readonly AlarmRow[] => [
  {
    id: 'failed-account-changes',
    severity: 'ticket',
    metric: sources.api.failedAccountChanges.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period: PERIOD,
    }),
    threshold: { least: 1 },
    reason: 'Changes in this queue are not retried and expire after 14 days.',
  },
  {
    id: 'notices-failing',
    severity: 'ticket',
    metric: sumOf(
      [
        own('notice_failed', { minutes: 15 }),
        own('notice_refused', { minutes: 15 }),
        own('bot_message_failed', { minutes: 15 }),
        own('bot_message_refused', { minutes: 15 }),
      ],
      'messages that were not delivered',
      15,
    ),
    threshold: { least: 10 },
    reason:
      'Single failures are temporary or concern one chat; ten within 15 minutes mean a wrong token or a messenger outage.',
  },
  {
    id: 'account-changes-unreadable',
    severity: 'ticket',
    metric: own('account_change_unreadable'),
    threshold: { least: 1 },
    reason: 'An unreadable change blocks its shard. It follows a deployment that must be rolled back soon.',
  },
];

/** Time in ms after which operators notice that receipts are missing. */
const USAGE_LATE_MS = 900_000;

/** Alarms on usage events. None without them. */
const usageEventAlarms = (own: OwnMetric, { api }: Sources): readonly AlarmRow[] => {
  const queue = api.failedUsageEvents;
  const lambda = api.lambdas.get('usageEvents');
  if (!queue || !lambda) return [];
  return [
    {
      id: 'failed-usage-events',
      severity: 'ticket',
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: PERIOD }),
      threshold: { least: 1 },
      reason: 'Charge records in this queue have no usage event, and are not retried.',
    },
    {
      id: 'usage-events-late',
      severity: 'ticket',
      metric: lambda.metric('IteratorAge', { statistic: 'Maximum', period: PERIOD }),
      threshold: { least: USAGE_LATE_MS },
      periods: 3,
      reason: 'The bus has not accepted the events of 15 minutes. After 23 hours the records go to a queue.',
    },
    {
      id: 'usage-events-unreadable',
      severity: 'ticket',
      metric: own('usage_event_unreadable'),
      threshold: { least: 1 },
      reason: 'The receiver got the ids of a charge record instead of its receipt, so its sums are too low.',
    },
  ];
};

/**
 * Two alarms, because clients notice errors of one kind and money waits for the other, and because an alarm supports
 * ten metrics at most.
 */
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
      severity: 'ticket',
      metric: sumOf(errorsOf(true), 'requests that crashed or timed out'),
      threshold: { least: 3 },
      reason:
        'Three requests crashed or timed out within 5 minutes. A single crash may come with a deployment. Errors reported to clients do not count here.',
    },
    {
      id: 'background-errors',
      severity: 'ticket',
      metric: sumOf(
        [...errorsOf(false), video.steps.metricErrors({ statistic: 'Sum', period: PERIOD })],
        'runs that crashed or timed out',
      ),
      threshold: { least: 3 },
      periods: 2,
      reason: 'The next run repeats the work. If several runs fail within ten minutes, the fault is not temporary.',
    },
  ];
};

const throttlesOf = (table: ITableV2): readonly IMetric[] =>
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

/** DynamoDB operations that requests wait for. */
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
