import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { settingsSchema } from '../../lambdas/settings.ts';
import { definitionPath, readDefinition } from '../../lib/video/definition.ts';
import { logsTo, permissionsOf, traces } from './permissions.ts';
import { ofType, only, pointsAt, synthesize } from './synthesize.ts';

const { gateway, data, video } = synthesize('prod');

const machine = only(video, 'AWS::StepFunctions::StateMachine').Properties;

test('VID-5 the state machine is STANDARD and traced, and logs errors without execution data', () => {
  expect(machine).toMatchObject({
    StateMachineName: 'gateway-prod-videos',
    StateMachineType: 'STANDARD',
    TracingConfiguration: { Enabled: true },
    LoggingConfiguration: { Level: 'ERROR', IncludeExecutionData: false },
  });
  const logSchema = z.object({
    Destinations: z.tuple([z.object({ CloudWatchLogsLogGroup: z.object({ LogGroupArn: z.unknown() }) })]),
  });
  const [destination] = logSchema.parse(machine.LoggingConfiguration).Destinations;
  expect(pointsAt(destination.CloudWatchLogsLogGroup.LogGroupArn, video, [])).toBe('machine-log');
});

const manifestSchema = z.object({
  files: z.record(z.string(), z.looseObject({ source: z.object({ path: z.string() }) })),
});

/** Returns the bytes of an uploaded asset. */
const uploaded = (key: string): Buffer => {
  const { artifacts, directory } = gateway.synth();
  const file = artifacts.find(({ id }) => id.startsWith('prodvideo') && id.endsWith('.assets'))?.manifest.properties;
  const manifestFile = z.looseObject({ file: z.string() }).parse(file).file;
  const text = readFileSync(join(directory, manifestFile), 'utf8');
  const { files } = manifestSchema.parse(JSON.parse(text));
  return readFileSync(join(directory, files[key.split('.')[0] ?? '']?.source.path ?? 'none'));
};

const locationSchema = z.object({ Bucket: z.unknown(), Key: z.string() });
const substitutionsSchema = z.record(z.string(), z.unknown());

test('VID-5 the deployed definition is the local file, and every placeholder has a value', () => {
  const { Key } = locationSchema.parse(machine.DefinitionS3Location);
  expect(uploaded(Key).equals(readFileSync(definitionPath))).toBe(true);
  expect([machine.DefinitionString, machine.Definition]).toEqual([undefined, undefined]);
  const given = substitutionsSchema.parse(machine.DefinitionSubstitutions);
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, pointsAt(value, video, [])]));
  expect(values).toEqual({
    StepFunctionArn: 'videoSteps/function',
    FirstWaitSeconds: '10',
    LimitSeconds: '3600',
    HoldSeconds: '7200',
    RetrySeconds: '2',
    WebhookRetrySeconds: '10',
  });
  // AWS substitutes in the same way, so this fails for a placeholder without a value.
  const { StepFunctionArn = '', FirstWaitSeconds = '', LimitSeconds = '', HoldSeconds = '' } = values;
  const { RetrySeconds = '', WebhookRetrySeconds = '' } = values;
  const substitutions = {
    StepFunctionArn,
    FirstWaitSeconds,
    LimitSeconds,
    HoldSeconds,
    RetrySeconds,
    WebhookRetrySeconds,
  };
  expect(readDefinition(substitutions).States.FirstWait).toMatchObject({ Type: 'Wait', Seconds: 10 });
});

test('BILL-13 a failed execution calls the release of its video, with retries', () => {
  const rule = only(video, 'AWS::Events::Rule').Properties;
  const patternSchema = z.object({
    source: z.array(z.string()),
    'detail-type': z.array(z.string()),
    detail: z.strictObject({ status: z.array(z.string()), stateMachineArn: z.tuple([z.unknown()]) }),
  });
  const pattern = patternSchema.parse(rule.EventPattern);
  expect(pattern.source).toEqual(['aws.states']);
  expect(pattern['detail-type']).toEqual(['Step Functions Execution Status Change']);
  expect(pattern.detail.status).toEqual(['FAILED', 'TIMED_OUT', 'ABORTED']);
  expect(pointsAt(pattern.detail.stateMachineArn[0], video, [])).toBe('machine');
  const targetSchema = z.object({ Targets: z.tuple([z.looseObject({ Arn: z.unknown() })]) });
  const [target] = targetSchema.parse(rule).Targets;
  expect(pointsAt(target.Arn, video, [])).toBe('videoSteps/function');
  expect(target).toMatchObject({
    InputTransformer: {
      InputPathsMap: { 'detail-name': '$.detail.name' },
      InputTemplate: '{"step":"release","videoId":<detail-name>}',
    },
    RetryPolicy: { MaximumRetryAttempts: 10, MaximumEventAgeInSeconds: 3_600 },
  });
  expect(only(video, 'AWS::Lambda::EventInvokeConfig').Properties).toMatchObject({ MaximumRetryAttempts: 2 });
  expect(only(video, 'AWS::Lambda::Permission').Properties).toMatchObject({ Principal: 'events.amazonaws.com' });
});

test('OPS-1 the state machine may only call its function and write its logs and traces', () => {
  expect(permissionsOf('machine-role', video, [data])).toEqual(
    [
      'lambda:InvokeFunction videoSteps/function',
      ...traces,
      'xray:GetSamplingRules *',
      'xray:GetSamplingTargets *',
      // AWS supports no resource for log delivery actions.
      ...['Create', 'Delete', 'Get', 'Update'].map((what) => `logs:${what}LogDelivery *`),
      'logs:ListLogDeliveries *',
      'logs:PutResourcePolicy *',
      'logs:DescribeResourcePolicies *',
      'logs:DescribeLogGroups *',
    ].sort(),
  );
});

test('OPS-1 the function of the steps has exactly the permissions that it needs', () => {
  expect(permissionsOf('videoSteps', video, [data])).toEqual(
    [
      ...logsTo('videoSteps/log'),
      ...traces,
      'dynamodb:GetItem accounts-table',
      'dynamodb:PutItem accounts-table',
      'dynamodb:UpdateItem accounts-table',
      'dynamodb:GetItem videos-table',
      'dynamodb:UpdateItem videos-table',
      'dynamodb:BatchGetItem counters-table',
      'dynamodb:GetItem counters-table',
      'dynamodb:UpdateItem counters-table',
      's3:GetObject media/outbox/*',
      's3:ListBucket media',
      's3:PutObject media/videos/*',
      's3:DeleteObject media/videos/*',
      's3:AbortMultipartUpload media/videos/*',
      'secretsmanager:GetSecretValue provider-keys',
    ].sort(),
  );
  expect(ofType(video, 'AWS::IAM::Role')).toHaveLength(2);
  expect(ofType(video, 'AWS::IAM::Policy')).toHaveLength(2);
  for (const role of ofType(video, 'AWS::IAM::Role')) expect(role.Properties.ManagedPolicyArns).toBeUndefined();
});

test('OPS-1 the function of the steps has 900 s, 1,024 MB, its settings, and cannot start videos', () => {
  const steps = only(video, 'AWS::Lambda::Function').Properties;
  expect(steps).toMatchObject({
    FunctionName: 'gateway-prod-videoSteps',
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Timeout: 900,
    MemorySize: 1_024,
    TracingConfig: { Mode: 'Active' },
  });
  const environmentOf = z.object({ Variables: z.record(z.string(), z.unknown()) });
  const variables = Object.entries(environmentOf.parse(steps.Environment).Variables);
  const named = Object.fromEntries(variables.map(([name, value]) => [name, pointsAt(value, video, [data])]));
  const { POWERTOOLS_SERVICE_NAME: _name, ...settings } = named;
  expect(z.strictObject(settingsSchema.shape).safeParse(settings).error).toBeUndefined();
  expect(settings).toMatchObject({ VIDEOS_TABLE: 'videos-table', PROVIDER_KEYS_SECRET: 'provider-keys' });
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(['VIDEO_LIMIT_SECONDS', 'VIDEO_CREATE_SECONDS']));
  expect(settings).not.toHaveProperty('VIDEO_MACHINE_ARN');
  expect(settings).not.toHaveProperty('KEY_PEPPER_SECRET');
});
