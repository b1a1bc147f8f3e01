import { expect, test } from 'vitest';
import { isApiKey } from '../../lambdas/core/accounts/keys.ts';
import { readSettings, SettingsError } from '../../lambdas/settings.ts';
import { hostDefaults, readLocalSettings } from '../../local/local-settings.ts';
import { noTables } from '../support/memory/memory-stores.ts';

const TOP_UP_KEY = 'a secret of 16 or more characters';
const production = { MODE: 'production', TOP_UP_KEY };

const linesOf = (read: () => unknown): readonly string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message.split('\n');
  }
};

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] =>
  linesOf(() => readLocalSettings(environment));

test('an empty variable counts as absent, and absent settings have defaults', () => {
  const settings = {
    MODE: 'development',
    HOST: '127.0.0.1',
    PORT: 8787,
    DATA_DIR: '.local',
    TRUST_PROXY: [],
    CONNECTIONS_PER_IP: 512,
    KEEP_ALIVE_SECONDS: 65,
    LOG: 'line',
    SHUTDOWN_SECONDS: 3,
    CREDITS: 'on',
    LOCAL_BALANCE_USD: '10',
    SWEEP_SECONDS: 10,
  };
  expect(readLocalSettings({})).toEqual(settings);
  expect(readLocalSettings({ MODE: '', HOST: '', PORT: '', TRUST_PROXY: '', SHUTDOWN_SECONDS: '' })).toEqual(settings);
  expect(readLocalSettings(production).SHUTDOWN_SECONDS).toBe(60);
  expect(readLocalSettings({ ...production, SHUTDOWN_SECONDS: '0' }).SHUTDOWN_SECONDS).toBe(0);
});

test.each([
  ['MODE', 'test', 'must be development or production'],
  ['HOST', 'localhost', 'must be an IP address such as 127.0.0.1 or 0.0.0.0'],
  ['PORT', 'eighty', 'must be a port from 0 to 65535'],
  ['PORT', '65536', 'must be a port from 0 to 65535'],
  ['TRUST_PROXY', '0.0.0.0/0', '"0.0.0.0/0" trusts every address. List the addresses of your proxies.'],
  ['LOG', 'text', 'must be line or json'],
  ['SHUTDOWN_SECONDS', '901', 'must be a whole number from 0 to 900'],
  ['SWEEP_SECONDS', '1e1', 'must be a whole number from 1 to 3600'],
  ['CREDITS', 'no', 'must be on or off'],
  ['LOCAL_WEBHOOKS', 'yes', 'must be on or off'],
  ['TOP_UP_KEY', 'short', 'must have at least 16 characters. Make one with: openssl rand -hex 32'],
  ['LOCAL_BALANCE_USD', '-1', 'must be an amount in USD such as 10 or 2.50'],
  ['DYNAMODB_ENDPOINT', 'localhost:8000', 'must be a URL such as http://127.0.0.1:8000'],
])('%s=%s is rejected in one line that has the fix', (name, value, message) => {
  expect(problemsOf({ [name]: value })).toEqual([`${name}: ${message}`]);
});

test('each invalid variable has its own line, including those of the functions', () => {
  expect(problemsOf({ PORT: '-1', LOG: 'xml' })).toEqual([
    'PORT: must be a port from 0 to 65535',
    'LOG: must be line or json',
  ]);
  expect(linesOf(() => readSettings({ ...noTables, LIMIT_KEY_BURST: 'many', CIRCUIT_OPEN_SECONDS: '301' }))).toEqual([
    'LIMIT_KEY_BURST: must be a whole number from 1 to 1000000',
    'CIRCUIT_OPEN_SECONDS: must be a whole number from 1 to 300',
  ]);
});

test('AUTH-5 a malformed LOCAL_API_KEY is rejected with an example that is accepted', () => {
  const [line = ''] = problemsOf({ LOCAL_API_KEY: 'sk-service-short' });
  const [example = ''] = /sk-service-\w+$/.exec(line) ?? [];
  expect(isApiKey(example)).toBe(true);
  expect(problemsOf({ LOCAL_API_KEY: example })).toEqual([]);
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.5', false],
  ['::ffff:10.0.0.1', false],
])('OPS-6 HOST=%s without MODE=production is accepted: %s', (HOST, isAccepted) => {
  const message = `HOST: other machines can reach ${HOST}. Set MODE=production, or use 127.0.0.1.`;
  expect(problemsOf({ HOST })).toEqual(isAccepted ? [] : [message]);
  expect(problemsOf({ ...production, HOST })).toEqual([]);
});

test('OPS-6 production needs a TOP_UP_KEY unless CREDITS is off', () => {
  expect(problemsOf({ MODE: 'production' })).toEqual([
    'TOP_UP_KEY: missing. Set the secret that your payment provider signs with, or set CREDITS=off to reject POST /app/credits.',
  ]);
  expect(problemsOf({ MODE: 'production', CREDITS: 'off' })).toEqual([]);
  expect(readLocalSettings(production).TOP_UP_KEY).toBe(TOP_UP_KEY);
});

test('OPS-6 production rejects the settings of the development account', () => {
  const LOCAL_API_KEY = 'sk-service-short';
  const [example = ''] = /sk-service-\w+$/.exec(problemsOf({ LOCAL_API_KEY }).join()) ?? [];
  const lines = problemsOf({ ...production, LOCAL_API_KEY: example, LOCAL_BALANCE_USD: '10' });
  expect(lines.map((line) => line.split('.')[0])).toEqual([
    'LOCAL_API_KEY: is only for development',
    'LOCAL_BALANCE_USD: is only for development',
  ]);
  expect(lines.join()).not.toContain(example);
});

test.each(['on', 'off'])('HOOK-4 production rejects LOCAL_WEBHOOKS=%s', (LOCAL_WEBHOOKS) => {
  expect(problemsOf({ ...production, LOCAL_WEBHOOKS })).toEqual([
    'LOCAL_WEBHOOKS: is only for development. Remove it, and use public URLs for webhooks.',
  ]);
  expect(readLocalSettings({ LOCAL_WEBHOOKS }).LOCAL_WEBHOOKS).toBe(LOCAL_WEBHOOKS);
  expect(Object.keys(readSettings({ ...noTables, LOCAL_WEBHOOKS }))).not.toContain('LOCAL_WEBHOOKS');
});

test('OPS-6 a bot in production needs a PUBLIC_URL', () => {
  const bot = { ...production, BOT_TOKEN: '123456:ABC' };
  expect(problemsOf(bot)).toEqual([
    'PUBLIC_URL: missing, and the bot needs it. Set the URL that clients use, such as https://api.example.com, or remove BOT_TOKEN.',
  ]);
  expect(problemsOf({ ...bot, PUBLIC_URL: 'https://api.example.com' })).toEqual([]);
});

const url = 'http://127.0.0.1:8787';

test('OPS-6 production has no start credit and no local page link, and polls at the usual rate', () => {
  expect(hostDefaults(production, url)).toEqual({
    PUBLIC_URL: url,
    MEDIA_URL: url,
    TOP_UP_TEXT: '',
    START_CREDIT_USD: '0',
    LOG_FORMAT: 'line',
  });
  expect(hostDefaults({}, url)).toEqual({
    PUBLIC_URL: url,
    MEDIA_URL: url,
    TOP_UP_TEXT: `${url}/?topup={account}`,
    START_CREDIT_USD: '1',
    LOG_FORMAT: 'line',
    VIDEO_POLL_SECONDS: '1',
    VIDEO_POLL_SECONDS_MAX: '5',
  });
});

test("the operator's settings take precedence over the host's defaults", () => {
  const PUBLIC_URL = 'https://api.example.com';
  expect(hostDefaults({ ...production, PUBLIC_URL, LOG: 'json' }, url)).toMatchObject({
    PUBLIC_URL,
    MEDIA_URL: PUBLIC_URL,
    LOG_FORMAT: 'json',
  });
  const own = {
    MEDIA_URL: 'https://media.example.com',
    TOP_UP_TEXT: 'Ask us.',
    START_CREDIT_USD: '0.5',
    VIDEO_POLL_SECONDS: '9',
  };
  expect(hostDefaults({ ...production, ...own }, url)).toMatchObject({
    START_CREDIT_USD: '0.5',
    TOP_UP_TEXT: 'Ask us.',
  });
  expect(hostDefaults(own, url)).toEqual({
    MEDIA_URL: own.MEDIA_URL,
    TOP_UP_TEXT: own.TOP_UP_TEXT,
    START_CREDIT_USD: own.START_CREDIT_USD,
    PUBLIC_URL: url,
    LOG_FORMAT: 'line',
  });
});

test('OPS-20 an endpoint for usage events needs a URL and a secret that can sign', () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const url = 'http://127.0.0.1:9900/usage';
  expect(problemsOf({ USAGE_EVENTS_URL: url, USAGE_EVENTS_SECRET: secret })).toEqual([]);
  expect(problemsOf({ USAGE_EVENTS_URL: url })).toEqual([
    'USAGE_EVENTS_SECRET: missing. Set the secret that signs usage events: USAGE_EVENTS_SECRET=whsec_$(openssl rand -base64 32)',
  ]);
  expect(problemsOf({ USAGE_EVENTS_SECRET: secret })).toEqual([
    'USAGE_EVENTS_URL: missing. Set the endpoint that gets usage events, or remove USAGE_EVENTS_SECRET.',
  ]);
  expect(problemsOf({ USAGE_EVENTS_URL: 'ftp://example.com', USAGE_EVENTS_SECRET: secret })).toEqual([
    'USAGE_EVENTS_URL: must be a URL such as https://billing.example.com/usage',
  ]);
  for (const withUser of ['http://me:secret@127.0.0.1/usage', 'http://:secret@127.0.0.1/usage'])
    expect(problemsOf({ USAGE_EVENTS_URL: withUser, USAGE_EVENTS_SECRET: secret })).toEqual([
      'USAGE_EVENTS_URL: must not have a user name or password, which no request can send. Remove them',
    ]);
  for (const wrong of ['a secret without a prefix', 'whsec_c2hvcnQ='])
    expect(problemsOf({ USAGE_EVENTS_URL: url, USAGE_EVENTS_SECRET: wrong })).toEqual([
      'USAGE_EVENTS_SECRET: must be whsec_ and at least 24 bytes in base64',
    ]);
});

test.each([
  ['http://127.0.0.1:9900/usage', true],
  ['http://localhost:9900/usage', true],
  ['http://[::1]:9900/usage', true],
  ['http://10.1.2.3/usage', true],
  ['http://192.168.0.7/usage', true],
  ['http://[fd00::7]/usage', true],
  ['http://receiver:9900/usage', true],
  ['https://billing.example.com/usage', true],
  ['http://billing.example.com/usage', false],
  ['http://localhost.example.com/usage', false],
  ['http://8.8.8.8/usage', false],
  ['http://172.32.0.1/usage', false],
  ['http://0.0.0.0/usage', false],
  ['http://[2001:4860:4860::8888]/usage', false],
  ['http://[::ffff:8.8.8.8]/usage', false],
])('OPS-20 usage events leave a private network only with https: %s', (url, isAccepted) => {
  const problem = 'USAGE_EVENTS_URL: must use https, except on this machine or a private network';
  const set = { USAGE_EVENTS_URL: url, USAGE_EVENTS_SECRET: `whsec_${'a'.repeat(44)}` };
  expect(problemsOf(set)).toEqual(isAccepted ? [] : [problem]);
});

const samplers =
  'always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio';

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', 'must be a URL such as http://127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector', 'must be a URL such as http://127.0.0.1:4318/v1/traces'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be http/json. The gateway sends no other form'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc', 'must be http/json. The gateway sends no other form'],
  ['OTEL_TRACES_SAMPLER', 'foo', `must be ${samplers}`],
  ['OTEL_TRACES_SAMPLER_ARG', 'all', 'must be a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be a number from 0 to 1'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be otlp or none'],
])('OPS-19 %s=%s is rejected in one line that has the fix', (name, value, message) => {
  expect(linesOf(() => readSettings({ ...noTables, [name]: value }))).toEqual([`${name}: ${message}`]);
});
