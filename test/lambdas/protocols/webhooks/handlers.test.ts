import { expect, test } from 'vitest';
import { FIRST_KEY_PROPERTIES } from '../../../../lambdas/core/accounts/key-ring.ts';
import { labelOf } from '../../../../lambdas/core/accounts/keys.ts';
import { PREVIOUS_SECRET_MS } from '../../../../lambdas/core/accounts/webhook-secret.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { AddressLimit, bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { webhookSecretOf } from '../../../../lambdas/core/signature.ts';
import type { DeliveryResult } from '../../../../lambdas/core/webhook-delivery.ts';
import type { RouteHandler } from '../../../../lambdas/http/exchange.ts';
import {
  createGetWebhookSecret,
  createRotateWebhookSecret,
  createTestWebhook,
  type SecretDependencies,
  type TestWebhookDependencies,
} from '../../../../lambdas/protocols/webhooks/handlers.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryWebhookSecrets } from '../../../support/memory/memory-webhook-secrets.ts';
import { createChain, hashOf } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const NOW = Date.UTC(2026, 10, 1);
const NOW_TEXT = '2026-11-01T00:00:00.000Z';
const SECRET = '/api/webhooks/secret';
const ROTATE = '/api/webhooks/secret/rotate';
const TEST = '/api/webhooks/test';
const url = 'https://client.example/hook';
const whsec = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;

/** Routes of webhooks, whose deliveries take 70 ms and have these results, or are accepted. */
const service = async (
  results: readonly DeliveryResult[] = [],
  changes: (clock: ManualClock) => Partial<TestWebhookDependencies> = () => ({}),
) => {
  const clock = new ManualClock(NOW);
  const sent: Parameters<TestWebhookDependencies['sendWebhook']>[0][] = [];
  let made = 0;
  const left = [...results];
  const owner = { apiKey: '', manage: true };
  const ring = async () => {
    const first = { hash: hashOf(owner.apiKey), label: labelOf(owner.apiKey), issuedAtMs: 0 };
    return {
      version: 0,
      first: { ...first, isShown: true, isRevoked: false },
      firstProperties: { ...FIRST_KEY_PROPERTIES, manage: owner.manage },
      named: [],
    };
  };
  const deps: TestWebhookDependencies & SecretDependencies = {
    keys: { ring },
    webhookSecrets: new MemoryWebhookSecrets(),
    newKeyBytes: () => new Uint8Array(32).fill(++made),
    clock,
    random: () => 0,
    checkWebhookUrl: (text) => (text.startsWith('https:') ? undefined : 'must be an http(s) URL.'),
    sendWebhook: async (delivery) => {
      sent.push(delivery);
      await clock.advance(70);
      return left.shift() ?? { status: 204, problem: undefined };
    },
    testLimit: new AddressLimit(bucketOf(0.1, 5), new MemoryAddressCounters(), clock),
    ...changes(clock),
  };
  const handlers: Readonly<Record<string, RouteHandler>> = {
    getWebhookSecret: createGetWebhookSecret(deps),
    rotateWebhookSecret: createRotateWebhookSecret(deps),
    testWebhook: createTestWebhook(deps),
  };
  const chain = await createChain({
    clock,
    keyBurst: 1_000,
    addressBurst: 1_000,
    handle: (exchange) => {
      const handler = handlers[exchange.route?.name ?? ''];
      if (!handler) throw new Error('not a route of webhooks');
      return handler(exchange);
    },
  });
  owner.apiKey = chain.apiKey;
  const send = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const headers = { authorization: `Bearer ${chain.apiKey}` };
    const event = functionUrlEvent({ method, path, headers, body: body && JSON.stringify(body) });
    const { status, headers: answered, text } = await invoke(chain.handler, event);
    return { status, headers: answered, body: JSON.parse(text) };
  };
  return { clock, deps, owner, sent, send, apiKey: chain.apiKey };
};

test('HOOK-2 only an API key with the right manage can read or rotate the secret', async () => {
  const { owner, send, deps } = await service();
  owner.manage = false;
  for (const [method, path, body] of [
    ['GET', SECRET, undefined],
    ['POST', ROTATE, { version: 1 }],
  ] as const) {
    const { status, body: answer } = await send(method, path, body);
    expect([status, answer.error.code]).toEqual([403, 'key_right_missing']);
  }
  owner.manage = true;
  expect((await send('GET', SECRET)).body).toMatchObject({ version: 1 });
  expect(deps.newKeyBytes()).toEqual(new Uint8Array(32).fill(2));
});

test('HOOK-2 the secret is created by the first read, and is not cached', async () => {
  const { send } = await service();
  const { status, headers, body } = await send('GET', SECRET);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  const shown = { object: 'webhook_secret', secret: whsec(1), version: 1, created_at: NOW_TEXT };
  expect(body).toEqual({ ...shown, previous_valid_until: null });
  expect((await send('GET', SECRET)).body).toEqual(body);
});

test('HOOK-2 a rotation shows the new secret, and how long the old one signs', async () => {
  const { clock, send } = await service();
  await send('GET', SECRET);
  const { body } = await send('POST', ROTATE, { version: 1 });
  const shown = { object: 'webhook_secret', secret: whsec(2), version: 2, created_at: NOW_TEXT };
  expect(body).toEqual({ ...shown, previous_valid_until: '2026-11-02T00:00:00.000Z' });
  expect((await send('GET', SECRET)).body).toEqual(body);
  await clock.advance(PREVIOUS_SECRET_MS);
  expect((await send('GET', SECRET)).body).toEqual({ ...body, previous_valid_until: null });
});

test('HOOK-2 a store that fails is 503, and the secret stays', async () => {
  const { clock, send } = await service([], () => ({
    webhookSecrets: {
      read: () => Promise.reject(new StoreError('unavailable', 'down')),
      put: () => Promise.reject(new StoreError('unavailable', 'down')),
    },
  }));
  for (const sending of [send('GET', SECRET), send('POST', ROTATE, { version: 1 })]) {
    const { status, body } = await clock.until(sending);
    expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
  }
});

test.each([
  ['no version', {}, 'version: must be the version of the present secret.'],
  ['a later version', { version: 2 }, 'version: the present secret has version 1. Send this version.'],
])('HOOK-2 a rotation with %s is rejected and changes nothing', async (_what, body, message) => {
  const { send } = await service();
  const { status, body: answer } = await send('POST', ROTATE, body);
  expect([status, answer.error.param, answer.error.message]).toEqual([400, 'version', message]);
  expect((await send('GET', SECRET)).body.version).toBe(1);
});

test('HOOK-3 a test sends one event, signed as a delivery, and returns the result', async () => {
  const { deps, sent, send, apiKey } = await service();
  await send('POST', ROTATE, { version: 1 });
  const { status, body } = await send('POST', TEST, { url });
  expect(status).toBe(200);
  const id = body.id;
  expect(body).toEqual({ object: 'webhook_test', id, delivered: true, status: 204, error: null, duration_ms: 70 });
  expect(sent).toMatchObject([{ url, id, secrets: [whsec(2), whsec(1)], keySecret: webhookSecretOf(apiKey) }]);
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
    id,
    object: 'event',
    type: 'webhook.test',
    created_at: NOW / 1_000,
    data: { object: 'webhook_test' },
  });
  expect(id).toMatch(/^evt_test_/);
  expect((await deps.webhookSecrets.read('account-1'))?.version).toBe(2);
});

test('HOOK-3 each test has a new event id, and a failed one is not repeated', async () => {
  const problem = 'the server returned 500.';
  const { sent, send } = await service([
    { status: 500, problem },
    { status: undefined, problem },
  ]);
  const [first, second] = [await send('POST', TEST, { url }), await send('POST', TEST, { url })];
  expect(first.body).toMatchObject({ delivered: false, status: 500, error: problem });
  expect(second.body).toMatchObject({ delivered: false, status: null, error: problem });
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
});

test.each([
  ['no URL', {}, 'url', 'url: must be a string with an http(s) URL.'],
  ['a number', { url: 5 }, 'url', 'url: must be a string with an http(s) URL.'],
  ['a rejected URL', { url: 'ftp://a.example' }, 'url', 'url: must be an http(s) URL.'],
  ['another field', { url, secret: 'x' }, 'secret', expect.stringContaining('secret')],
])('HOOK-3 a test with %s is rejected with the field and sends nothing', async (_what, sentBody, param, message) => {
  const { sent, send } = await service();
  const { status, body } = await send('POST', TEST, sentBody);
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request_error', param]);
  expect(body.error.message).toEqual(message);
  expect(sent).toEqual([]);
});

test('HOOK-3 an account can send five tests in a row, then one in ten seconds', async () => {
  const fast = { sendWebhook: async () => ({ status: 204, problem: undefined }) };
  const { clock, send } = await service([], () => fast);
  const statusOfTest = async () => (await send('POST', TEST, { url })).status;
  for (let turn = 0; turn < 5; turn += 1) expect(await statusOfTest()).toBe(200);
  const { status, headers, body } = await send('POST', TEST, { url });
  expect([status, body.error.code, headers['retry-after']]).toEqual([429, 'rate_limit_exceeded', '10']);
  await clock.advance(10_000);
  expect([await statusOfTest(), await statusOfTest()]).toEqual([200, 429]);
});

test('HOOK-3 a rejected URL does not count toward the limit of tests', async () => {
  const { send } = await service();
  for (let turn = 0; turn < 6; turn += 1) expect((await send('POST', TEST, { url: 'x' })).status).toBe(400);
  expect((await send('POST', TEST, { url })).status).toBe(200);
});
