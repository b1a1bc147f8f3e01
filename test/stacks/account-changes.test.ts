import { expect, test } from 'vitest';
import * as z from 'zod';
import { nameOf, ofType, pointsAt, synthesize } from './synthesize.ts';

const { data, api } = synthesize('prod');

const only = (type: string) => {
  const [found, ...others] = ofType(api, type);
  expect(others, type).toEqual([]);
  return found!;
};

test("KEY-3 the writes of accounts with a chat, and nothing else of the accounts table's stream, are handed to notices", () => {
  const { Properties } = only('AWS::Lambda::EventSourceMapping');
  expect(pointsAt(Properties.FunctionName, api, [data])).toBe('notices/function');
  expect(pointsAt(Properties.EventSourceArn, api, [data])).toBe('accounts-table stream');
  const filters = z.object({ Filters: z.tuple([z.object({ Pattern: z.string() })]) }).parse(Properties.FilterCriteria);
  expect(JSON.parse(filters.Filters[0].Pattern)).toEqual({
    eventName: ['MODIFY'],
    dynamodb: { Keys: { sk: { S: ['ACCOUNT'] } }, NewImage: { chat: { S: [{ exists: true }] } } },
  });
});

test('KEY-3 nothing is passed over at a deployment, failures are told one by one, and none is repeated for ever', () => {
  const { Properties } = only('AWS::Lambda::EventSourceMapping');
  expect(Properties).toMatchObject({
    StartingPosition: 'TRIM_HORIZON',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: true,
    BatchSize: 100,
    MaximumBatchingWindowInSeconds: 5,
    MaximumRetryAttempts: 100,
    // Less than the day after which the stream forgets a record, or none would ever be in the queue.
    MaximumRecordAgeInSeconds: 6 * 3_600,
  });
});

test('KEY-3 what was given up waits in a queue for two weeks, encrypted, and is reached over TLS only', () => {
  const queue = only('AWS::SQS::Queue');
  expect(nameOf(queue)).toBe('account-changes/failed');
  expect(queue.Properties).toMatchObject({
    QueueName: 'gateway-prod-failed-account-changes',
    SqsManagedSseEnabled: true,
    MessageRetentionPeriod: 14 * 86_400,
  });
  const destination = z.object({ OnFailure: z.object({ Destination: z.unknown() }) });
  const { DestinationConfig } = only('AWS::Lambda::EventSourceMapping').Properties;
  expect(pointsAt(destination.parse(DestinationConfig).OnFailure.Destination, api, [data])).toBe(
    'account-changes/failed',
  );
  expect(only('AWS::SQS::QueuePolicy').Properties.PolicyDocument).toMatchObject({
    Statement: [{ Effect: 'Deny', Action: 'sqs:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }],
  });
});

test('KEY-3 the mapping is made after the role may read the stream, or AWS would refuse it', () => {
  const policies = [...api.resources].filter(
    ([, resource]) => resource.Type === 'AWS::IAM::Policy' && nameOf(resource).startsWith('notices/'),
  );
  const dependsOn = z.object({ DependsOn: z.array(z.string()) });
  const [lambda] = ofType(api, 'AWS::Lambda::Function').filter((resource) => nameOf(resource) === 'notices/function');
  expect(policies).toHaveLength(1);
  expect(dependsOn.parse(lambda).DependsOn).toContain(policies[0]?.[0]);
});
