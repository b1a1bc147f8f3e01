import { expect, test } from 'vitest';
import { environments, parseEnvironment } from '../../lib/environments.ts';

const certificateArn = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/one`;
const layerArn = (region: string) => `arn:aws:lambda:${region}:901920570463:layer:aws-otel-collector-arm64-ver-1:1`;
const ownNetwork = {
  kind: 'existing',
  vpcId: 'vpc-0a1b2c3d',
  subnetIds: ['subnet-0a1b2c3d'],
  securityGroupIds: ['sg-0a1b2c3d'],
};
const zone = { id: 'Z1', name: 'example.com' };

test.each([
  ['logRetentionDays', { logRetentionDays: 8 }],
  ['region', { region: 'the moon' }],
  ['frontDoor', { frontDoor: 'nginx' }],
  ['memoryMb.txt', { memoryMb: { txt: 1_024 } }],
  ['memoryMb.text', { memoryMb: { text: 64 } }],
  ['memoryMb.content', { memoryMb: { content: 1_024 } }],
  ['reservedConcurrency.content', { reservedConcurrency: { content: 5 } }],
  ['reservedConcurrency.text', { reservedConcurrency: { text: 0 } }],
  ['reservedConcurrency.text', { reservedConcurrency: { text: 5 }, inferenceHost: 'web-function', textShift: 'off' }],
  ['markup', { markup: '1,2' }],
  ['markup', { markup: '0.00' }],
  ['limits.LIMIT_KEY_BURST', { limits: { LIMIT_KEY_BURST: 0 } }],
  ['limits.LIMIT_SPEED', { limits: { LIMIT_SPEED: 1 } }],
  ['catalogs.1', { catalogs: ['openai', 'nobody'] }],
  ['catalogs', { catalogs: ['openai', 'openai'] }],
  ['catalogs', { catalogs: [] }],
  ['alarms.page.mail.0', { alarms: { page: { mail: ['somebody'] } } }],
  ['alarms.ticket.mail', { alarms: { ticket: { mail: ['a@example.com', 'a@example.com'] } } }],
  ['alarms.page.https.0', { alarms: { page: { https: ['http://pager.example'] } } }],
  [
    'alarms.page.chat.0.workspaceId',
    { alarms: { page: { chat: [{ kind: 'slack', workspaceId: 'a', channelId: 'C1' }] } } },
  ],
  ['alarms.page.chat.0.kind', { alarms: { page: { chat: [{ kind: 'irc' }] } } }],
  ['alarms.page', { alarmActions: true }],
  ['alarms.ticket', { alarmActions: true, alarms: { page: { mail: ['a@example.com'] } } }],
  ['budgetUsdPerMonth', { budgetUsdPerMonth: 0 }],
  ['videos.VIDEO_SECONDS', { videos: { VIDEO_SECONDS: 1 } }],
  ['videos.VIDEO_LIMIT_SECONDS', { videos: { VIDEO_LIMIT_SECONDS: 0 } }],
  ['retries', { retries: 1 }],
  ['tracing.kind', { tracing: { kind: 'zipkin' } }],
  ['tracing.sampling', { tracing: { kind: 'xray', sampling: 2 } }],
  ['tracing.layerArn', { tracing: { kind: 'layer', layerArn: 'adot' } }],
  ['tracing.layerArn', { tracing: { kind: 'layer', layerArn: layerArn('eu-west-1') } }],
  [
    'tracing.kind',
    { tracing: { kind: 'layer', layerArn: layerArn('us-east-1') }, inferenceHost: 'web-function', textShift: 'off' },
  ],
  ['tracing.endpoint', { tracing: { kind: 'otlp', endpoint: 'collector:4318' } }],
  ['tracing.endpoint', { tracing: { kind: 'otlp', endpoint: 'https://me:secret@collector.example' } }],
  ['tracing.endpoint', { tracing: { kind: 'otlp', endpoint: 'https://:secret@collector.example' } }],
  ['publicUrl', { publicUrl: 'http://gateway.example' }],
  ['videos.VIDEO_POLL_SECONDS_MAX', { videos: { VIDEO_POLL_SECONDS: 10, VIDEO_POLL_SECONDS_MAX: 5 } }],
  ['publicUrl', { publicUrl: 'https://gateway.example/v1' }],
  ['publicUrl', { publicUrl: 'https://other.example', domain: { name: 'api.example.com', hostedZone: zone } }],
  ['bot.startCreditUsd', { bot: { startCreditUsd: '1,5' } }],
  ['uncollectedDailyUsd', { uncollectedDailyUsd: '-1' }],
  ['bot.token', { bot: { token: 'x' } }],
  ['bot', { bot: { startCreditUsd: '1' }, frontDoor: 'none' }],
  ['domain', { domain: { name: 'api.example.com' } }],
  ['domain', { domain: { name: 'api.example.com', hostedZone: zone }, frontDoor: 'none' }],
  ['domain.name', { domain: { name: 'https://api.example.com', hostedZone: zone } }],
  ['domain.hostedZone.name', { domain: { name: 'api.example.org', hostedZone: zone } }],
  ['domain.certificateArn', { domain: { name: 'a.example', certificateArn: certificateArn('eu-central-1') } }],
  [
    'domain.certificateArn',
    { domain: { name: 'a.example', certificateArn: certificateArn('eu-west-1') }, frontDoor: 'api-gateway' },
  ],
  ['edgeTimeoutSeconds', { edgeTimeoutSeconds: 601 }],
  ['edgeTimeoutSeconds', { edgeTimeoutSeconds: 180, frontDoor: 'api-gateway' }],
  ['edgeJsonKeepAlive', { edgeJsonKeepAlive: false, frontDoor: 'none' }],
  ['inferenceHost', { inferenceHost: 'web-function', frontDoor: 'api-gateway' }],
  ['network', { network: { kind: 'created' } }],
  ['network', { network: { kind: 'created' }, frontDoor: 'none', inferenceHost: 'web-function', textShift: 'off' }],
  ['network.kind', { network: { kind: 'none' }, frontDoor: 'api-gateway' }],
  ['network.natGateways', { network: { kind: 'created', natGateways: 3 }, frontDoor: 'api-gateway' }],
  ['network.vpcId', { network: { ...ownNetwork, vpcId: 'mine' }, frontDoor: 'api-gateway' }],
  ['network.subnetIds', { network: { ...ownNetwork, subnetIds: [] }, frontDoor: 'api-gateway' }],
  ['firewallRequestsPerMinute', { firewallRequestsPerMinute: 5_000, frontDoor: 'none' }],
  ['firewallRequestsPerMinute', { limits: { LIMIT_ADDRESS_PER_SECOND: 40 } }],
])('an environment with an invalid %s is rejected with the path of the field: %j', (path, change) => {
  const wrong = { ...environments.prod, ...change };
  expect(() => parseEnvironment(wrong, 'environments.prod')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(`^environments\\.prod\\.${path.replaceAll('.', '\\.')}: `),
    }),
  );
});

test.each([
  { frontDoor: 'none' },
  { frontDoor: 'api-gateway' },
  { frontDoor: 'none', publicUrl: 'https://own.example', bot: { startCreditUsd: '1' } },
  { domain: { name: 'api.example.com', hostedZone: zone }, publicUrl: 'https://api.example.com/' },
  { domain: { name: 'example.com', certificateArn: certificateArn('us-east-1') }, region: 'eu-central-1' },
  {
    domain: { name: 'a.example', certificateArn: certificateArn('eu-west-1') },
    frontDoor: 'api-gateway',
    region: 'eu-west-1',
  },
  { limits: { LIMIT_ADDRESS_PER_SECOND: 100 }, firewallRequestsPerMinute: 10_000 },
  { inferenceHost: 'web-function', textShift: 'off', reservedConcurrency: { account: 5 } },
])('an environment with %j has no contradictions', (change) => {
  expect(() => parseEnvironment({ ...environments.prod, ...change }, 'environments.prod')).not.toThrow();
});

test('an environment with several invalid fields is rejected with one line each', () => {
  expect(() =>
    parseEnvironment({ ...environments.dev, region: '', markup: '1,2', retries: 1 }, 'environments.dev'),
  ).toThrow(/^environments\.dev\.region: .*\nenvironments\.dev\.markup: .*\nenvironments\.dev\.retries: .*$/);
});

test('BILL-13 video times with which a hold could end before its video are rejected', () => {
  const wrong = { ...environments.dev, videos: { VIDEO_HOLD_SECONDS: 3_600 } };
  expect(() => parseEnvironment(wrong, 'environments.dev')).toThrow(
    /^environments\.dev\.videos: VIDEO_HOLD_SECONDS is 3600/,
  );
});

test('OPS-1 the former field of alarm addresses is rejected with the names of the new ones', () => {
  const former = { ...environments.prod, alarmAddresses: ['a@example.com'] };
  expect(() => parseEnvironment(former, 'environments.prod')).toThrow(
    'environments.prod.alarmAddresses: replaced. Move the addresses to alarms.page.mail and alarms.ticket.mail',
  );
});

test.each([
  ['tracing.sampling', 'must be a number from 0 to 1', { tracing: { kind: 'xray', sampling: 2 } }],
  ['tracing.sampling', 'must be a number from 0 to 1', { tracing: { kind: 'xray', sampling: -1 } }],
  ['tracing.sampling', 'must be a number from 0 to 1', { tracing: { kind: 'xray', sampling: '0.1' } }],
  ['tracing.layerArn', 'must be the ARN of a version of a layer', { tracing: { kind: 'layer' } }],
  ['tracing.kind', 'must be xray, layer or otlp', { tracing: { kind: 'zipkin' } }],
  ['tracing.kind', 'must be xray, layer or otlp', { tracing: {} }],
  ['tracing', "must be { kind: 'xray' }, { kind: 'layer', layerArn } or { kind: 'otlp', endpoint }", { tracing: true }],
  ['usageEvents', "must be { kind: 'created' } or { kind: 'existing', eventBusArn }", { usageEvents: true }],
  ['usageEvents.kind', 'must be created or existing', { usageEvents: { kind: 'new' } }],
  ['usageEvents.eventBusArn', 'must be the ARN of an event bus', { usageEvents: { kind: 'existing' } }],
  [
    'network',
    "must be { kind: 'created' } or { kind: 'existing', vpcId, subnetIds, securityGroupIds }",
    { network: true },
  ],
  ['network.kind', 'must be created or existing', { network: { kind: 'vpc' } }],
])('the error of %s is one line: %s (%o)', (path, problem, change) => {
  const parsed = () => parseEnvironment({ ...environments.prod, ...change });
  expect(parsed).toThrow(new Error(`${path}: ${problem}`));
});
