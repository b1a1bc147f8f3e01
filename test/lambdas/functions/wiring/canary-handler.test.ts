import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test, vi } from 'vitest';
import { type DeploymentCheck, stepNames } from '../../../../lambdas/checks/deployment-steps.ts';
import { makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import {
  canaryDependenciesFromEnvironment,
  createCanaryHandler,
} from '../../../../lambdas/functions/wiring/canary-handler.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

const apiKey = makeApiKey(new Uint8Array(32).fill(7));
const secrets = mockClient(SecretsManagerClient);
afterEach(() => {
  secrets.reset();
  vi.restoreAllMocks();
});

const skipped = Object.fromEntries(stepNames.filter((name) => name !== 'health').map((name) => [name, 'not here']));

/** A check of one step, at a clock that moves by 100 ms with each read. */
const checkOf = (send: typeof fetch, more: Partial<DeploymentCheck> = {}): DeploymentCheck => ({
  baseUrlOf: () => 'https://gateway.example',
  apiKey,
  directUrls: [],
  ownAddress: async () => undefined,
  putImage: async () => undefined,
  newMediaToken: () => '0'.repeat(32),
  readWebhook: undefined,
  skipped,
  clock: { now: () => 0, after: () => () => undefined },
  send,
  timeoutMs: 1_000,
  ...more,
});

const run = async (openCheck: () => Promise<DeploymentCheck>) => {
  const notice = vi.fn<(name: string, details: object) => void>();
  const measured = vi.fn<(values: object) => void>();
  let now = 0;
  const clock = { now: () => (now += 100), after: () => () => undefined };
  await createCanaryHandler({ openCheck, clock, reporting: { notice, measured, finished: () => undefined } })();
  return { notices: notice.mock.calls, measures: measured.mock.calls };
};

test('OPS-13 a run whose steps succeed measures 1 and its time', async () => {
  const { notices, measures } = await run(async () => checkOf(async () => Response.json({ status: 'ok' })));
  expect([notices, measures]).toEqual([[], [[{ canary_ok: 1, canary_ms: 100 }]]]);
});

test('OPS-13 a failed step measures 0 and is logged with what to do, without the API key', async () => {
  const { notices, measures } = await run(async () => checkOf(async () => new Response('', { status: 502 })));
  expect(measures).toEqual([[{ canary_ok: 0, canary_ms: 100 }]]);
  expect(notices).toEqual([
    ['canary_failed', { step: 'health', reason: expect.stringMatching(/^Expected 200 .*, found status 502\. Check /) }],
  ]);
  expect(JSON.stringify(notices)).not.toContain(apiKey);
});

test('OPS-13 a run that its time limit ends measures 0', async () => {
  const limit = AbortSignal.abort();
  const { measures } = await run(async () => checkOf(async () => Response.json({ status: 'ok' }), { signal: limit }));
  expect(measures).toEqual([[{ canary_ok: 0, canary_ms: 100 }]]);
});

test('OPS-13 an error of the canary itself measures 0, without the message, which could quote the API key', async () => {
  const { notices, measures } = await run(() => Promise.reject(new RangeError(`wrong ${apiKey}`)));
  expect(measures).toEqual([[{ canary_ok: 0, canary_ms: 100 }]]);
  expect(notices).toEqual([['canary_failed', { step: 'start', reason: 'RangeError' }]]);
});

const environment = {
  ...noTables,
  AWS_REGION: 'us-east-1',
  PUBLIC_URL: 'https://gateway.example',
  CANARY_KEY_SECRET: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:canary',
  CANARY_DIRECT_URL: 'https://direct.example',
};

test('OPS-13 the canary reads its API key in every run, and makes no charged request', async () => {
  secrets.on(GetSecretValueCommand).resolves({ SecretString: apiKey });
  const { openCheck } = canaryDependenciesFromEnvironment(environment);
  const check = await openCheck();
  await openCheck();
  expect(secrets.commandCalls(GetSecretValueCommand)).toHaveLength(2);
  expect(check).toMatchObject({ apiKey, directUrls: ['https://direct.example'], readWebhook: undefined });
  expect(check.baseUrlOf('text', true)).toBe('https://gateway.example');
  expect(Object.keys(check.skipped)).toEqual(['streamed chat']);
  expect(check.newMediaToken()).toMatch(/^[0-9a-f]{32}$/);
  const { CANARY_DIRECT_URL: _, ...behindRest } = environment;
  const other = await canaryDependenciesFromEnvironment(behindRest).openCheck();
  expect([other.directUrls, Object.keys(other.skipped)]).toEqual([[], ['streamed chat', 'direct access']]);
});

test.each([
  [
    'the generated value of its secret',
    'x'.repeat(32),
    environment,
    'The secret holds no API key. Run `npm run check:deployed`',
  ],
  ['no public URL', apiKey, { ...environment, PUBLIC_URL: '' }, 'The public URL is unknown. Deploy the front door.'],
])('OPS-13 a canary with %s measures 0 and reports what to do', async (_what, SecretString, settings, message) => {
  secrets.on(GetSecretValueCommand).resolves({ SecretString });
  const { notices, measures } = await run(canaryDependenciesFromEnvironment(settings).openCheck);
  expect(measures).toEqual([[{ canary_ok: 0, canary_ms: 100 }]]);
  expect(notices).toEqual([['canary_failed', { step: 'start', reason: expect.stringContaining(message) }]]);
});
