import { expect, test } from 'vitest';
import * as z from 'zod';
import { settingsSchema } from '../../lambdas/settings.ts';
import { functionNames } from '../../lib/functions.ts';
import { nameOf, ofType, pointsAt, synthesize } from './synthesize.ts';

const { data, api } = synthesize('prod');

const lambdas = new Map(
  ofType(api, 'AWS::Lambda::Function').map((resource) => [nameOf(resource).split('/')[0], resource.Properties]),
);

const policySchema = z.object({
  PolicyDocument: z.object({
    Statement: z.array(
      z.object({
        Effect: z.literal('Allow'),
        Action: z.union([z.string(), z.array(z.string())]),
        Resource: z.unknown(),
      }),
    ),
  }),
});

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Everything a function's role allows, as `action resource`. */
const permissionsOf = (name: string): readonly string[] =>
  ofType(api, 'AWS::IAM::Policy')
    .filter((policy) => nameOf(policy).startsWith(`${name}/`))
    .flatMap((policy) => policySchema.parse(policy.Properties).PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      list(Action).flatMap((action) => list(Resource).map((resource) => `${action} ${pointsAt(resource, api, data)}`)),
    )
    .sort();

const everyFunction = (name: string) => [
  `logs:CreateLogStream ${name}/log`,
  `logs:PutLogEvents ${name}/log`,
  // X-Ray has no resource of its own to name.
  'xray:PutTelemetryRecords *',
  'xray:PutTraceSegments *',
];
const admission = [
  'secretsmanager:GetSecretValue key-pepper',
  'dynamodb:GetItem keys-table',
  'dynamodb:UpdateItem keys-table',
  'dynamodb:UpdateItem counters-table',
];

test.each([
  [
    'text',
    [
      ...admission,
      'dynamodb:GetItem accounts-table',
      'dynamodb:PutItem accounts-table',
      'dynamodb:UpdateItem accounts-table',
      'dynamodb:GetItem idempotency-table',
      'dynamodb:PutItem idempotency-table',
      'dynamodb:UpdateItem idempotency-table',
      'dynamodb:DeleteItem idempotency-table',
      'dynamodb:BatchGetItem counters-table',
      'dynamodb:DeleteItem counters-table',
      's3:GetObject media/outbox/*',
      's3:PutObject media/outbox/*',
      's3:GetObject media/answers/*',
      's3:PutObject media/answers/*',
      's3:ListBucket media',
      'secretsmanager:GetSecretValue provider-keys',
    ],
  ],
  ['catalog', admission],
  ['account', [...admission, 'dynamodb:GetItem accounts-table', 'dynamodb:Query accounts-table']],
  [
    'sweep',
    [
      'dynamodb:GetItem accounts-table',
      'dynamodb:PutItem accounts-table',
      'dynamodb:UpdateItem accounts-table',
      'dynamodb:Query accounts-table/index/sweep',
      's3:GetObject media/outbox/*',
      's3:ListBucket media',
    ],
  ],
  [
    'outbox',
    [
      'dynamodb:GetItem accounts-table',
      'dynamodb:PutItem accounts-table',
      'dynamodb:UpdateItem accounts-table',
      's3:GetObject media/outbox/*',
      's3:DeleteObject media/outbox/*',
      's3:ListBucket media',
    ],
  ],
])('OPS-1 the function %s may do what it does and nothing else', (name, permissions) => {
  expect(permissionsOf(name)).toEqual([...everyFunction(name), ...permissions].sort());
});

test('no policy allows an action by pattern, and no role has a policy of AWS', () => {
  for (const name of functionNames)
    for (const permission of permissionsOf(name)) expect(permission.split(' ')[0]).not.toContain('*');
  for (const role of ofType(api, 'AWS::IAM::Role')) expect(role.Properties.ManagedPolicyArns).toBeUndefined();
  expect(ofType(api, 'AWS::IAM::Role')).toHaveLength(functionNames.length);
});

test.each([
  ['text', 900, 1_024],
  ['catalog', 30, 512],
  ['account', 30, 512],
  ['sweep', 60, 512],
  ['outbox', 60, 512],
])('OPS-1 the function %s: %i s, %i MB, nothing reserved; Node 24 on arm64, traced', (name, seconds, megabytes) => {
  const properties = lambdas.get(name);
  expect(properties).toMatchObject({
    FunctionName: `gateway-prod-${name}`,
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Timeout: seconds,
    MemorySize: megabytes,
    Handler: 'index.handler',
    TracingConfig: { Mode: 'Active' },
  });
  expect(properties?.ReservedConcurrentExecutions).toBeUndefined();
});

test('every function logs to a group of its own with an end, kept in prod', () => {
  for (const name of functionNames) {
    const loggingSchema = z.object({ LogGroup: z.unknown() });
    const { LogGroup } = loggingSchema.parse(lambdas.get(name)?.LoggingConfig);
    expect(pointsAt(LogGroup, api, data)).toBe(`${name}/log`);
  }
  const groups = ofType(api, 'AWS::Logs::LogGroup');
  expect(groups).toHaveLength(functionNames.length);
  for (const group of groups) expect([group.Properties.RetentionInDays, group.DeletionPolicy]).toEqual([365, 'Retain']);
});

const variablesOf = (name: string): Readonly<Record<string, string>> => {
  const { Variables } = z
    .object({ Variables: z.record(z.string(), z.unknown()) })
    .parse(lambdas.get(name)?.Environment);
  return Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, pointsAt(value, api, data)]));
};

test.each([
  ['text', { KEY_PEPPER_SECRET: 'key-pepper', PROVIDER_KEYS_SECRET: 'provider-keys' }],
  ['catalog', { KEY_PEPPER_SECRET: 'key-pepper' }],
  ['account', { KEY_PEPPER_SECRET: 'key-pepper' }],
  ['sweep', {}],
  ['outbox', {}],
])('OPS-1 the settings of %s are what the schema asks for, with the secrets %j', (name, secrets) => {
  const { POWERTOOLS_SERVICE_NAME, ...settings } = variablesOf(name);
  expect(z.strictObject(settingsSchema.shape).safeParse(settings).error).toBeUndefined();
  expect(POWERTOOLS_SERVICE_NAME).toBe(`gateway-prod-${name}`);
  expect(settings).toEqual({
    ACCOUNTS_TABLE: 'accounts-table',
    KEYS_TABLE: 'keys-table',
    COUNTERS_TABLE: 'counters-table',
    IDEMPOTENCY_TABLE: 'idempotency-table',
    MEDIA_BUCKET: 'media',
    MARKUP: '1',
    LOG_FORMAT: 'json',
    ...secrets,
  });
});

test('the HTTP functions, and no other, have a URL that streams and leaves CORS to them', () => {
  const urls = ofType(api, 'AWS::Lambda::Url');
  expect(urls.map((url) => nameOf(url)).sort()).toEqual([
    'account/function/FunctionUrl',
    'catalog/function/FunctionUrl',
    'text/function/FunctionUrl',
  ]);
  for (const { Properties } of urls) {
    expect(Properties).toMatchObject({ InvokeMode: 'RESPONSE_STREAM', AuthType: 'NONE' });
    expect(Properties.Cors).toBeUndefined();
  }
  expect(Object.keys(api.outputs).sort()).toEqual(['accountUrl', 'catalogUrl', 'textUrl']);
});

test('BILL-13 the sweep and the outbox are called every minute, and a call that failed is left to the next', () => {
  const rules = ofType(api, 'AWS::Events::Rule');
  expect(rules.map((rule) => nameOf(rule)).sort()).toEqual(['outbox/schedule', 'sweep/schedule']);
  for (const { Properties } of rules)
    expect(Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
    });
  const invocations = ofType(api, 'AWS::Lambda::EventInvokeConfig');
  expect(invocations).toHaveLength(rules.length);
  for (const { Properties } of invocations)
    expect(Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
});
