import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseEnvironment } from '../../lib/environments.ts';
import { sectionsOf } from '../docs/runbook-sections.ts';
import { environmentOf, nameOf, ofType, pointsAt, synthesize } from './synthesize.ts';

const created = synthesize('prod', 'with usage events');
const existing = synthesize('prod', 'cloudfront with the event bus of the owner');
const without = synthesize('prod');

const variablesSchema = z.object({ Variables: z.record(z.string(), z.unknown()) });
const variablesOf = ({ api }: typeof created) =>
  ofType(api, 'AWS::Lambda::Function')
    .filter(({ Properties }) => Properties.FunctionName === 'gateway-prod-usageEvents')
    .map(({ Properties }) => variablesSchema.parse(Properties.Environment).Variables);

const mappingsOf = ({ api, data }: typeof created) =>
  ofType(api, 'AWS::Lambda::EventSourceMapping').map(({ Properties }) => ({
    properties: Properties,
    target: pointsAt(Properties.FunctionName, api, [data]),
    source: pointsAt(Properties.EventSourceArn, api, [data]),
  }));

test('OPS-20 usage events are off by default', () => {
  expect(ofType(without.api, 'AWS::Events::EventBus')).toEqual([]);
  expect([variablesOf(without), mappingsOf(without).map(({ target }) => target)]).toEqual([[], ['notices/function']]);
});

test('OPS-20 the function gets only new charge records, and keeps them as long as the stream does', () => {
  const [mapping] = mappingsOf(created).filter(({ target }) => target === 'usageEvents/function');
  expect(mapping?.source).toBe('accounts-table stream');
  expect(mapping?.properties).toMatchObject({
    StartingPosition: 'TRIM_HORIZON',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: true,
    BatchSize: 100,
    MaximumBatchingWindowInSeconds: 5,
    MaximumRecordAgeInSeconds: 23 * 3_600,
  });
  expect(mapping?.properties.MaximumRetryAttempts).toBeUndefined();
  const { Filters } = z
    .object({ Filters: z.array(z.object({ Pattern: z.string() })) })
    .parse(mapping?.properties.FilterCriteria);
  expect(Filters.map(({ Pattern }) => JSON.parse(Pattern))).toEqual([
    { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: [{ prefix: 'CHARGE#' }] } } } },
  ]);
});

test('OPS-20 no stream has more than the two readers that DynamoDB supports', () => {
  const sources = mappingsOf(created).map(({ source }) => source);
  expect(sources).toEqual(['accounts-table stream', 'accounts-table stream']);
});

test('OPS-20 an encrypted queue keeps failed charge records for two weeks', () => {
  const [queue] = ofType(created.api, 'AWS::SQS::Queue').filter((one) => nameOf(one).startsWith('usage-events/'));
  expect(queue?.Properties).toMatchObject({
    QueueName: 'gateway-prod-failed-usage-events',
    SqsManagedSseEnabled: true,
    MessageRetentionPeriod: 14 * 86_400,
  });
});

test('OPS-20 the function gets the created bus or that of the owner, and a source per environment', () => {
  const [bus] = ofType(created.api, 'AWS::Events::EventBus');
  expect(bus?.Properties).toEqual(expect.objectContaining({ Name: 'gateway-prod-usage' }));
  expect(variablesOf(created)).toMatchObject([
    { USAGE_EVENTS_BUS: 'gateway-prod-usage', USAGE_EVENTS_SOURCE: 'gateway-prod' },
  ]);
  expect(ofType(existing.api, 'AWS::Events::EventBus')).toEqual([]);
  expect(variablesOf(existing)).toMatchObject([
    {
      USAGE_EVENTS_BUS: 'arn:aws:events:us-east-1:210987654321:event-bus/billing',
      USAGE_EVENTS_SOURCE: 'gateway-prod',
    },
  ]);
  for (const { outputs } of [created.api, existing.api])
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['failedUsageEventsUrl', 'usageEventBusArn']));
});

test('OPS-20 alarms watch the queue, the delay and unreadable records, with runbook sections', () => {
  const alarms = ofType(created.operations, 'AWS::CloudWatch::Alarm').filter(({ Properties }) =>
    String(Properties.AlarmName).includes('usage-events'),
  );
  const ids = alarms.map(({ Properties }) => String(Properties.AlarmName).slice('gateway-prod-'.length));
  expect(ids).toEqual(['failed-usage-events', 'usage-events-late', 'usage-events-unreadable']);
  for (const id of ids) expect([...sectionsOf('Alarms').keys()]).toContain(id);
  expect(alarms.map(({ Properties }) => Properties.Threshold)).toEqual([1, 900_000, 1]);
});

test.each([
  [{ kind: 'existing', eventBusArn: 'arn:aws:events:eu-west-1:210987654321:event-bus/b' }, 'must be in us-east-1'],
  [{ kind: 'existing', eventBusArn: 'billing' }, 'must be the ARN of an event bus'],
  [{ kind: 'created', eventBusArn: 'x' }, 'unknown field'],
])('OPS-20 usageEvents %j is rejected: %s', (usageEvents, message) => {
  expect(() => parseEnvironment({ ...environmentOf('prod'), usageEvents }, 'prod')).toThrow(message);
});
