import { expect, test } from 'vitest';
import * as z from 'zod';
import { settingsSchema } from '../../lambdas/settings.ts';
import { functionsOf } from '../../lib/environment-schema.ts';
import { environments } from '../../lib/environments.ts';
import { nameOf, ofType, pointsAt, synthesize } from './synthesize.ts';

const { data, video, api } = synthesize('prod');

/** All functions except the one that the state machine calls. */
const { events, webs } = functionsOf(environments.prod);
const here = [...events, ...webs].map(({ name }) => name).filter((name) => name !== 'videoSteps');

const lambdas = new Map(
  ofType(api, 'AWS::Lambda::Function').map((resource) => [nameOf(resource).split('/')[0], resource.Properties]),
);

test('every function has its own role with one policy, and no managed policy', () => {
  const roles = ofType(api, 'AWS::IAM::Role').filter(
    ({ Properties }) => !JSON.stringify(Properties).includes('codedeploy'),
  );
  for (const role of roles) expect(role.Properties.ManagedPolicyArns).toBeUndefined();
  // Plus one for the function that copies code.
  expect(roles).toHaveLength(here.length + 1);
  expect(ofType(api, 'AWS::IAM::Policy')).toHaveLength(here.length + 1);
});

test.each([
  ['text', 900, 768],
  ['images', 900, 3_008],
  ['audio', 900, 1_024],
  ['videos', 120, 1_024],
  ['catalog', 30, 512],
  ['account', 30, 512],
  ['bot', 30, 512],
  ['app', 30, 512],
  ['notices', 60, 512],
  ['sweep', 60, 512],
  ['outbox', 60, 512],
  ['videoSweep', 60, 512],
  ['audit', 300, 2_048],
  ['canary', 280, 512],
])(
  'OPS-1 %s has a timeout of %i s, %i MB, Node 24, arm64, tracing and no reserved concurrency',
  (name, seconds, megabytes) => {
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
  },
);

/** Log and variables of a function. */
const describedSchema = z.union([
  z
    .object({
      LoggingConfig: z.object({ LogGroup: z.unknown() }),
      Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
    })
    .transform(({ LoggingConfig, Environment }) => ({
      log: LoggingConfig.LogGroup,
      variables: Environment.Variables,
    })),
  z
    .object({
      ServiceConfig: z.object({
        EnvironmentVariables: z.record(z.string(), z.unknown()),
        TelemetryConfig: z.object({ LoggingConfig: z.object({ LogGroup: z.unknown() }) }),
      }),
    })
    .transform(({ ServiceConfig }) => ({
      log: ServiceConfig.TelemetryConfig.LoggingConfig.LogGroup,
      variables: ServiceConfig.EnvironmentVariables,
    })),
]);

const described = (name: string) => {
  const revision = ofType(api, 'AWS::Lambda::WebFunctionRevision').find((resource) =>
    nameOf(resource).startsWith(`${name}/`),
  );
  return describedSchema.parse(lambdas.get(name) ?? revision?.Properties);
};

test('every function logs to its own group', () => {
  for (const name of here) expect(pointsAt(described(name).log, api, [])).toBe(`${name}/log`);
});

/** Name of the function whose URL a value contains, or of the resource that it refers to. */
const toPlace = (value: unknown): string =>
  /"(\w+)functionFunctionUrl\w+","FunctionUrl"/.exec(JSON.stringify(value))?.[1] ?? pointsAt(value, api, [data, video]);

const variablesOf = (name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(described(name).variables).map(([key, value]) => [key, toPlace(value)]));

const times = {
  VIDEO_CREATE_SECONDS: '60',
  VIDEO_POLL_SECONDS: '10',
  VIDEO_POLL_SECONDS_MAX: '60',
  VIDEO_LIMIT_SECONDS: '3600',
  VIDEO_HOLD_SECONDS: '7200',
  VIDEO_RETRY_SECONDS: '2',
  VIDEO_WEBHOOK_RETRY_SECONDS: '10',
};
const machine = { VIDEO_MACHINE_ARN: 'machine' };
/** Parameter in which the front door stores its URL. */
const address = { PUBLIC_URL_PARAMETER: '/gateway-prod/public-url' };
/** Settings of functions for clients behind CloudFront. */
const door = {
  FRONT_DOOR: 'cloudfront',
  ORIGIN_SECRET_SECRET: 'origin-secret',
  EDGE_TIMEOUT_SECONDS: '120',
  EDGE_JSON_KEEP_ALIVE: 'true',
  LIMIT_ADDRESS_PER_SECOND: '30',
  LIMIT_ADDRESS_BURST: '60',
  LIMIT_KEY_PER_SECOND: '10',
  LIMIT_KEY_BURST: '15',
};
const pepper = { ...door, KEY_PEPPER_SECRET: 'key-pepper' };
const server = { AWS_LAMBDA_NODEJS_ENTRYPOINT: 'index.mjs' };
const vendors = { PROVIDER_KEYS_SECRET: 'provider-keys' };
const bot = { BOT_TOKEN_SECRET: 'bot-token' };
const shown = { ...address, START_CREDIT_USD: '0' };

test.each([
  ['text', { ...pepper, ...vendors, ...address }],
  ['images', { ...pepper, ...vendors, ...address }],
  ['audio', { ...pepper, ...vendors }],
  ['videos', { ...pepper, ...vendors, ...times, ...machine }],
  ['inference', { ...pepper, ...vendors, ...address, ...times, ...machine, ...server }],
  ['content', { ...pepper, ...times, ...server }],
  ['catalog', pepper],
  ['account', pepper],
  ['bot', { ...pepper, ...bot, ...shown }],
  ['app', { ...pepper, ...bot, TOP_UP_KEY_SECRET: 'top-up-key' }],
  ['notices', { ...bot, ...shown }],
  ['sweep', {}],
  ['outbox', {}],
  ['videoSweep', { ...times, ...machine }],
  ['audit', {}],
  ['canary', { CANARY_KEY_SECRET: 'canary-key', ...address, CANARY_DIRECT_URL: 'catalog' }],
])('OPS-1 the settings of %s match the schema, with its own settings %j', (name, own) => {
  const { POWERTOOLS_SERVICE_NAME, FUNCTION_NAME, ...settings } = variablesOf(name);
  // The URL is known only after the deployment.
  const { AWS_LAMBDA_NODEJS_ENTRYPOINT: _entry, CANARY_DIRECT_URL: _direct, ...read } = settings;
  expect(z.strictObject(settingsSchema.shape).safeParse(read).error).toBeUndefined();
  expect([POWERTOOLS_SERVICE_NAME, FUNCTION_NAME]).toEqual(['gateway-prod', `gateway-prod-${name}`]);
  expect(settings).toEqual({
    ACCOUNTS_TABLE: 'accounts-table',
    KEYS_TABLE: 'keys-table',
    COUNTERS_TABLE: 'counters-table',
    IDEMPOTENCY_TABLE: 'idempotency-table',
    VIDEOS_TABLE: 'videos-table',
    MEDIA_BUCKET: 'media',
    MARKUP: '1',
    HOLD_FORMAT: 'packed',
    UNCOLLECTED_DAILY_USD: '1',
    LOG_FORMAT: 'json',
    CATALOGS: 'openai,anthropic,google,bytedance,black-forest-labs',
    ...own,
  });
});

test('exactly the HTTP functions have a URL, which streams and has no CORS settings', () => {
  const urls = ofType(api, 'AWS::Lambda::Url');
  expect(urls.map((url) => nameOf(url)).sort()).toEqual([
    'account/function/FunctionUrl',
    'app/function/FunctionUrl',
    'audio/function/FunctionUrl',
    'bot/function/FunctionUrl',
    'catalog/function/FunctionUrl',
    'images/function/FunctionUrl',
    'text/function/Aliaslive/FunctionUrl',
    'text/function/FunctionUrl',
    'videos/function/FunctionUrl',
  ]);
  for (const { Properties } of urls) {
    expect(Properties).toMatchObject({ InvokeMode: 'RESPONSE_STREAM', AuthType: 'NONE' });
    expect(Properties.Cors).toBeUndefined();
  }
  // In addition to the outputs that other stacks read.
  expect(
    Object.keys(api.outputs)
      .filter((output) => !/^PublishOutput|HostName$/.test(output))
      .sort(),
  ).toEqual([
    'accountUrl',
    'appUrl',
    'audioUrl',
    'botUrl',
    'catalogUrl',
    'contentUrl',
    'failedAccountChangesUrl',
    'imagesUrl',
    'inferenceUrl',
    'textUrl',
    'videosUrl',
  ]);
});

test('BILL-13, OPS-13 the sweeps, the outbox, the canary and the audit are scheduled without retries', () => {
  const rules = ofType(api, 'AWS::Events::Rule');
  expect(rules.map((rule) => [nameOf(rule), rule.Properties.ScheduleExpression]).sort()).toEqual([
    ['audit/schedule', 'rate(1 hour)'],
    ['canary/schedule', 'rate(5 minutes)'],
    ['outbox/schedule', 'rate(1 minute)'],
    ['sweep/schedule', 'rate(1 minute)'],
    ['videoSweep/schedule', 'rate(1 minute)'],
  ]);
  for (const { Properties } of rules)
    expect(Properties).toMatchObject({
      State: 'ENABLED',
      Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
    });
  const invocations = ofType(api, 'AWS::Lambda::EventInvokeConfig');
  expect(invocations).toHaveLength(rules.length);
  for (const { Properties } of invocations)
    expect(Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
});
