import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { MaintenanceState } from '../../../lambdas/core/maintenance.ts';
import { FREE_BYTES } from '../../../lambdas/http/body-budget.ts';
import { json } from '../../../lambdas/http/exchange.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { createChain } from './chain.ts';
import { type Answer, functionUrlEvent, invoke, type Sent } from './function-url.ts';

const CHAT = '/v1/chat/completions';

const codeOf = ({ status, text }: Answer): string => `${status} ${JSON.parse(text).error?.code}`;

const opened = async (options: Parameters<typeof createChain>[0] = {}) => {
  const chain = await createChain(options);
  const authorization = `Bearer ${chain.apiKey}`;
  const send = (sent: Sent): Promise<Answer> => invoke(chain.handler, functionUrlEvent(sent));
  const post = (body: Sent['body'], headers: Sent['headers'] = {}, more: Sent = {}): Promise<Answer> =>
    send({ method: 'POST', path: CHAT, headers: { authorization, ...headers }, body, ...more });
  return { ...chain, authorization, send, post };
};

test('LIM-5 responses to a valid API key show its rate limit and remaining requests', async () => {
  const { send, post } = await opened();
  const rate = ({ headers }: Answer) => [
    headers['x-ratelimit-limit-requests'],
    headers['x-ratelimit-remaining-requests'],
    headers['x-ratelimit-reset-requests'],
  ];
  expect(rate(await post('{}'))).toEqual(['15', '14', '0.1s']);
  expect(rate(await post('{'))).toEqual(['15', '13', '0.2s']);
  expect(rate(await send({ path: '/health' }))).toEqual([undefined, undefined, undefined]);
});

test("GEN-8 a body's budget, size, type and JSON are checked in this order", async () => {
  const { post, bodies, clock } = await opened({ bodyBytes: 10 });
  const tooLong = 'x'.repeat(BODY_BYTES_MAX + 1);
  const lease = bodies.enter(['another']);
  await lease.grow(FREE_BYTES + 10);
  const waiting = post(tooLong, { 'content-encoding': 'deflate' });
  await clock.advance(10_000);
  const answer = await waiting;
  expect([codeOf(answer), answer.headers['retry-after']]).toEqual(['503 service_unavailable', '1']);
  lease.end();
  expect(codeOf(await post(tooLong, { 'content-encoding': 'deflate' }))).toBe('413 payload_too_large');
  expect(codeOf(await post('{', { 'content-encoding': 'deflate' }))).toBe('415 unsupported_media_type');
  expect(codeOf(await post('{', { 'content-type': 'multipart/form-data; boundary=x' }))).toBe(
    '400 invalid_request_error',
  );
  expect(codeOf(await post('{'))).toBe('400 invalid_request_error');
});

test.for([undefined, 'identity', ' Identity '])(
  'GEN-12 a body with content-encoding %s is read, whatever its content type',
  async (name) => {
    const { post } = await opened();
    const headers = { 'content-type': 'text/plain', ...(name === undefined ? {} : { 'content-encoding': name }) };
    expect((await post('{}', headers)).status).toBe(200);
  },
);

const unicode = '{"a":"é🌍","b":1}';

test('GEN-2 a body is read equally as text and as base64', async () => {
  const { post, handled } = await opened();
  await post(unicode);
  await post(unicode, {}, { base64: true });
  const expected = { json: { a: 'é🌍', b: 1 }, bytes: Buffer.byteLength(unicode) };
  expect(handled.map(({ body }) => body)).toEqual([expected, expected]);
});

test('GEN-2 a missing body is 400 where one is required', async () => {
  const { post, send, authorization } = await opened();
  expect(codeOf(await post(undefined))).toBe('400 invalid_request_error');
  const answer = await send({ path: '/v1/models', headers: { authorization }, body: '{' });
  expect(JSON.parse(answer.text)).toEqual({ route: 'listModels' });
});

test('GEN-14 a request releases its body with its response', async () => {
  const { post, bodies } = await opened({ bodyBytes: 20 });
  for (const body of ['{}', '{', `{"a":"${'x'.repeat(FREE_BYTES + 50)}"}`]) await post(body);
  await bodies.enter(['one']).reserve();
  const second = bodies.enter(['two']);
  await second.grow(FREE_BYTES + 19);
});

test('GEN-14 a body waits for the quarter of its client IP until its account has a known balance', async () => {
  const { post, bodies, clock, funded } = await opened();
  const large = `{"a":"${'x'.repeat(FREE_BYTES)}"}`;
  await bodies.enter(['address#203.0.113.8'], FREE_BYTES + 250_000_000).reserve();
  const refused = post(large, {}, { sourceIp: '203.0.113.8' });
  await clock.advance(10_000);
  expect(codeOf(await refused)).toBe('503 service_unavailable');
  expect((await post(large)).status).toBe(200);
  funded.mark({ accountId: 'account-1', amountPicos: 1n });
  expect((await post(large, {}, { sourceIp: '203.0.113.8' })).status).toBe(200);
});

test('GEN-14, LIM-7 clients without a readable IP share no quarter', async () => {
  const { post, bodies } = await opened();
  await bodies.enter(['address#undefined'], FREE_BYTES + 250_000_000).reserve();
  expect((await post(`{"a":"${'x'.repeat(FREE_BYTES)}"}`, {}, { sourceIp: 'unknown' })).status).toBe(200);
});

test('GEN-14 a body waits for the quarter of its account from any client IP', async () => {
  const { post, bodies, clock } = await opened();
  const lease = bodies.enter(['account#account-1'], FREE_BYTES + 250_000_000);
  await lease.reserve();
  const waiting = post(`{"a":"${'x'.repeat(FREE_BYTES)}"}`);
  await clock.advance(5_000);
  lease.end();
  expect((await waiting).status).toBe(200);
});

test('ERR-5 a bug is 500 internal_error and hides its message', async () => {
  const { post, finished } = await opened({
    handle: async () => {
      throw new TypeError('canary');
    },
  });
  const answer = await post('{}');
  expect(codeOf(answer)).toBe('500 internal_error');
  expect(answer.text).not.toContain('canary');
  expect(finished).toMatchObject([
    { summary: { status: 500, errorCode: 'internal_error', cause: expect.any(TypeError) } },
  ]);
});

test('ERR-5 the cause of an error is logged only if its status is 500 or above', async () => {
  const notedFor = async (
    code: 'invalid_image_format' | 'upstream_capacity' | 'upstream_error' | 'upstream_timeout',
  ) => {
    const { post, finished } = await opened({
      handle: async () => {
        throw new GatewayError(code, 'words', { cause: 'why', retryAfterSeconds: 1 });
      },
    });
    await post('{}');
    return finished.map(({ summary: { status, errorCode, cause } }) => [status, errorCode, cause]);
  };
  expect(await notedFor('invalid_image_format')).toEqual([[400, 'invalid_image_format', undefined]]);
  expect(await notedFor('upstream_capacity')).toEqual([[429, 'upstream_capacity', undefined]]);
  expect(await notedFor('upstream_error')).toEqual([[502, 'upstream_error', 'why']]);
  expect(await notedFor('upstream_timeout')).toEqual([[504, 'upstream_timeout', 'why']]);
});

test('GEN-13 OPTIONS needs no key on any route, and counts toward the limit of the address', async () => {
  const { send, handled } = await opened({ addressBurst: 2 });
  for (const path of [CHAT, '/v1/models/x']) {
    const answer = await send({ method: 'OPTIONS', path });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': expect.stringContaining('authorization'),
    });
    expect(answer.headers['x-request-id']).toMatch(/^OURS/);
  }
  expect(codeOf(await send({ method: 'OPTIONS', path: CHAT }))).toBe('429 rate_limit_exceeded');
  expect(codeOf(await send({ method: 'OPTIONS', path: '/nowhere' }))).toBe('404 not_found');
  expect(handled).toEqual([]);
});

test('GEN-7 HEAD has the status and headers of GET and no body', async () => {
  const newRequestId = (): string => 'OURS';
  for (const [path, status] of [
    ['/api/account', 200],
    ['/api/usage/x', 200],
    ['/health', 200],
    ['/v1/models/x', 401],
    ['/nowhere', 404],
  ] as const) {
    const answers = await Promise.all(
      ['GET', 'HEAD'].map(async (method) => {
        const { handler, apiKey } = await createChain({ newRequestId });
        const headers: Record<string, string> = status === 200 ? { authorization: `Bearer ${apiKey}` } : {};
        return invoke(handler, functionUrlEvent({ method, path, headers }));
      }),
    );
    const [get, head] = answers;
    expect([path, get?.status, head?.status, head?.text]).toEqual([path, status, status, '']);
    expect(get?.text).not.toBe('');
    expect(head?.headers).toEqual(get?.headers);
  }
});

test('LIM-6 a handler gets the time at which its host stops it', async () => {
  const { handler, authorization, handled, clock } = await opened();
  const event = () => functionUrlEvent({ method: 'POST', path: CHAT, headers: { authorization }, body: '{}' });
  await invoke(handler, event(), { getRemainingTimeInMillis: () => 60_000 });
  await invoke(handler, event(), {});
  expect(handled.map(({ hostEndsAtMs }) => hostEndsAtMs)).toEqual([clock.now() + 60_000, undefined]);
});

const closed = (['on', 'paused'] as const).flatMap((state) =>
  Object.values(routes)
    .filter((route: Route) => route.billed || route.writes)
    .map((route) => [state, route.method, route.path] as const),
);

test.each(closed)('OPS-15 in maintenance %s, %s %s is 503 before any store call', async (state, method, path) => {
  const { send, calls, handled } = await opened({ maintenance: async () => state });
  const answer = await send({ method, path: path.replaceAll(/\{[^}]+\}/g, 'x'), body: '{' });
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '300']);
  expect(answer.text).toContain('The service is in maintenance. Nothing was charged or changed. Retry in 5 minutes.');
  expect([calls(), handled]).toEqual([[], []]);
});

test('OPS-15 every route with a method other than GET is rejected in maintenance, except token counts', () => {
  const open = Object.entries<Route>(routes).filter(
    ([, { method, billed, writes }]) => method !== 'GET' && !billed && !writes,
  );
  expect(open.map(([name]) => name)).toEqual(['countMessageTokens', 'countContentTokens']);
  for (const { method, writes } of Object.values<Route>(routes)) expect(method === 'GET' && writes).toBeFalsy();
});

test.for([
  ['/v1/responses', { upgrade: 'websocket', connection: 'Upgrade' }],
  ['/v1/responses', { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
  ['/v1/realtime', { upgrade: 'h2c, WebSocket' }],
] as const)(
  'GEN-7 a handshake of a WebSocket at %s with %j is 426 before any key is checked',
  async ([path, headers]) => {
    const { send } = await opened();
    expect(codeOf(await send({ path, headers }))).toBe('426 upgrade_required');
  },
);

test('GEN-7 another protocol and a POST are served as usual', async () => {
  const { send, post } = await opened();
  expect((await send({ path: '/health', headers: { upgrade: 'h2c' } })).status).toBe(200);
  expect((await post('{}', { upgrade: 'websocket' })).status).toBe(200);
});

test('OPS-15 reads, token counts and preflights continue in maintenance', async () => {
  const { send, authorization } = await opened({ maintenance: async () => 'on' });
  const headers = { authorization };
  expect((await send({ path: '/api/account', headers })).status).toBe(200);
  expect((await send({ path: '/health' })).status).toBe(200);
  expect((await send({ method: 'OPTIONS', path: CHAT })).status).toBe(204);
  const counted = {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    headers: { 'x-api-key': authorization.slice(7) },
  };
  expect((await send({ ...counted, body: '{}' })).status).toBe(200);
});

test('GEN-8 in maintenance, an unknown path and method precede 503, and 503 precedes 401', async () => {
  const { send } = await opened({ maintenance: async () => 'on' });
  expect(codeOf(await send({ method: 'POST', path: '/v1/nowhere' }))).toBe('404 not_found');
  expect(codeOf(await send({ method: 'PUT', path: CHAT }))).toBe('405 method_not_allowed');
  expect(codeOf(await send({ method: 'POST', path: CHAT, body: '{}' }))).toBe('503 service_unavailable');
});

test('OPS-15 a request that passed the switch ends as usual after maintenance began', async () => {
  let state: MaintenanceState = 'off';
  const vendor = Promise.withResolvers<void>();
  const { post } = await opened({
    maintenance: async () => state,
    handle: async () => {
      await vendor.promise;
      return json(200, {});
    },
  });
  const running = post('{}');
  await new Promise(setImmediate);
  state = 'on';
  expect((await post('{}')).status).toBe(503);
  vendor.resolve();
  expect((await running).status).toBe(200);
});

test('GEN-7 a text has its length in bytes, also for HEAD, and an empty response has none', async () => {
  const { send } = await opened();
  const path = '/health';
  const [get, head, preflight] = [
    await send({ path }),
    await send({ method: 'HEAD', path }),
    await send({ method: 'OPTIONS', path }),
  ];
  expect(get.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  expect([head.text, head.headers['content-length']]).toEqual(['', get.headers['content-length']]);
  expect(preflight.headers).not.toHaveProperty('content-length');
});
