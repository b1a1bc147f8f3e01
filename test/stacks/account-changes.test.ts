import { expect, test } from 'vitest';
import * as z from 'zod';
import { nameOf, ofType, only, pointsAt, synthesize } from './synthesize.ts';

const { data, api } = synthesize('prod');

test('KEY-3 `notices` receives only writes of accounts with a chat from the stream', () => {
  const { Properties } = only(api, 'AWS::Lambda::EventSourceMapping');
  expect(pointsAt(Properties.FunctionName, api, [data])).toBe('notices/function');
  expect(pointsAt(Properties.EventSourceArn, api, [data])).toBe('accounts-table stream');
  const filters = z.object({ Filters: z.tuple([z.object({ Pattern: z.string() })]) }).parse(Properties.FilterCriteria);
  expect(JSON.parse(filters.Filters[0].Pattern)).toEqual({
    eventName: ['MODIFY'],
    dynamodb: { Keys: { sk: { S: ['ACCOUNT'] } }, NewImage: { chat: { S: [{ exists: true }] } } },
  });
});

test('KEY-3 the mapping loses nothing at a deployment, reports each failure, limits its retries', () => {
  const { Properties } = only(api, 'AWS::Lambda::EventSourceMapping');
  expect(Properties).toMatchObject({
    StartingPosition: 'TRIM_HORIZON',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: true,
    BatchSize: 100,
    MaximumBatchingWindowInSeconds: 5,
    MaximumRetryAttempts: 100,
    // Less than a day, after which the stream drops a record. Otherwise the queue would stay empty.
    MaximumRecordAgeInSeconds: 6 * 3_600,
  });
});

test('KEY-3 an encrypted queue keeps a failed change for two weeks', () => {
  const queue = only(api, 'AWS::SQS::Queue');
  expect(nameOf(queue)).toBe('account-changes/failed');
  expect(queue.Properties).toMatchObject({
    QueueName: 'gateway-prod-failed-account-changes',
    SqsManagedSseEnabled: true,
    MessageRetentionPeriod: 14 * 86_400,
  });
  const destination = z.object({ OnFailure: z.object({ Destination: z.unknown() }) });
  const { DestinationConfig } = only(api, 'AWS::Lambda::EventSourceMapping').Properties;
  expect(pointsAt(destination.parse(DestinationConfig).OnFailure.Destination, api, [data])).toBe(
    'account-changes/failed',
  );
});

test('KEY-3 the function depends on the policy that lets its role read the stream', () => {
  const policies = [...api.resources].filter(
    ([, resource]) => resource.Type === 'AWS::IAM::Policy' && nameOf(resource).startsWith('notices/'),
  );
  const dependsOn = z.object({ DependsOn: z.array(z.string()) });
  const [lambda] = ofType(api, 'AWS::Lambda::Function').filter((resource) => nameOf(resource) === 'notices/function');
  expect(policies).toHaveLength(1);
  expect(dependsOn.parse(lambda).DependsOn).toContain(policies[0]?.[0]);
});
