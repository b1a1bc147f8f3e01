import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json as readBody } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { BODY_BYTES_MAX } from '../../lambdas/limits.ts';
import { errorSchema, MODEL, readError } from '../support/gateway-chat.ts';
import { startInProcess } from '../support/in-process-gateway.ts';
import { exchangeRaw } from './gateway-socket.ts';
import { startSimulated } from './simulated-gateway.ts';

const { gateway } = await startSimulated();

const call = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { method, headers });

test('GEN-10 /health responds without a key', async () => {
  const response = await call('GET', '/health');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok' });
});

test('GEN-10 /health is 503 with the problem codes while a part does not work', async () => {
  const found: string[] = ['disk_space', 'database'];
  const { url, stop } = await startInProcess({
    vendorUrl: undefined,
    change: () => ({ problems: async () => found }),
  });
  onTestFinished(stop);
  const degraded = await fetch(`${url}/health`);
  expect([degraded.status, await degraded.json()]).toEqual([
    503,
    { status: 'degraded', problems: ['disk_space', 'database'] },
  ]);
  expect(degraded.headers.get('x-request-id')).toMatch(/^\w{26}$/);
  found.length = 0;
  const ok = await fetch(`${url}/health`);
  expect([ok.status, await ok.json()]).toEqual([200, { status: 'ok' }]);
});

test.each(['/v1/chat/completions', '/api/account'])(
  'GEN-13 the preflight of %s succeeds for any origin without a key',
  async (path) => {
    const response = await call('OPTIONS', path, {
      origin: 'https://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, idempotency-key',
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toMatch(/\bGET\b.*\bPOST\b/);
    // The standard excludes this one header from the wildcard.
    expect(response.headers.get('access-control-allow-headers')).toMatch(/\bauthorization\b/i);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  },
);

test('GEN-13 any origin may read successful and failed responses', async () => {
  const answers = await Promise.all([
    call('GET', '/api/models'),
    call('GET', '/v1/models'),
    call('GET', '/nowhere'),
    call('DELETE', '/v1/models'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 405]);
  for (const { headers } of answers) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBeTruthy();
  }
});

test('GEN-7 an unknown path is 404 and a wrong method 405 with Allow, before any key is checked', async () => {
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['GET', '/v1//models'],
    ['OPTIONS', '/nowhere'],
  ] as const) {
    const response = await call(method, path);
    expect([path, response.status, await readError(response)]).toMatchObject([path, 404, { code: 'not_found' }]);
  }
  for (const [method, path, allowed] of [
    ['GET', '/v1/chat/completions', 'POST'],
    ['PROPFIND', '/api/models', 'GET'],
  ] as const) {
    const response = await call(method, path);
    expect([response.status, await readError(response)]).toMatchObject([405, { code: 'method_not_allowed' }]);
    expect(response.headers.get('allow')?.split(/, */)).toContain(allowed);
  }
  const head = await call('HEAD', '/v1/chat/completions');
  expect([head.status, head.headers.get('allow'), await head.text()]).toEqual([405, 'POST, OPTIONS', '']);
  expect((await call('GET', '/health?path=/v1/models&method=POST')).status).toBe(200);
});

test('GEN-7 a handshake of a WebSocket is 426 in the shape of an error', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'a',
  };
  const sent = get(`${gateway.url}/v1/responses`, { headers });
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (!response) throw new Error('no response');
  expect([response.statusCode, response.headers.upgrade]).toEqual([426, 'HTTP/1.1']);
  expect(errorSchema.parse(await readBody(response)).error.code).toBe('upgrade_required');
});

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('GEN-12 a chat in %s works like one without compression', async (name, compress) => {
  const body = compress(JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hi' }] }));
  const headers = { authorization: `Bearer ${gateway.apiKey}`, 'content-encoding': name };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  expect([response.status, (await response.json()).object]).toEqual([200, 'chat.completion']);
});

test('GEN-7 HEAD has the status and headers of GET, and no body', async () => {
  const varied = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'transfer-encoding']);
  const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !varied.has(name));
  for (const path of ['/health', '/api/models', '/v1/models', '/app', '/api-reference/openapi.json', '/nowhere']) {
    const [get, head] = [await call('GET', path), await call('HEAD', path)];
    expect([path, head.status, await head.text()]).toEqual([path, get.status, '']);
    expect(headersOf(head)).toEqual(headersOf(get));
    expect((await get.text()).length).toBeGreaterThan(10);
  }
});

const close = 'Connection: close\r\n\r\n';

test.each([
  ['two Host headers', `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`],
  ['the asterisk', `OPTIONS * HTTP/1.1\r\nHost: a\r\n${close}`],
  ['an authority', `GET example.com:443 HTTP/1.1\r\nHost: a\r\n${close}`],
  ['an unknown method', `BREW /health HTTP/1.1\r\nHost: a\r\n${close}`],
  [
    'two lengths',
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n${close}{}`,
  ],
  [
    'a length with chunks',
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${close}0\r\n\r\n`,
  ],
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['no Host header', `GET /health HTTP/1.1\r\n${close}`],
])('GEN-4, GEN-7 %s is 400 with the one error shape and a request id', async (_what, request) => {
  const answer = await exchangeRaw(gateway.url, request);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(errorSchema.parse(JSON.parse(answer.body)).error).toMatchObject({
    code: 'invalid_request_error',
    type: 'invalid_request_error',
  });
});

test('GEN-7 a target with the URL of the gateway works, as a client sends it to a proxy', async () => {
  const sent = 'GET http://gateway.example/v1/models HTTP/1.1\r\nHost: gateway.example\r\n';
  const answer = await exchangeRaw(gateway.url, `${sent}Authorization: Bearer ${gateway.apiKey}\r\n${close}`);
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, { object: 'list' }]);
});

test('GEN-7 a request with one Host header and a path works over the same raw socket', async () => {
  const answer = await exchangeRaw(gateway.url, `GET /health HTTP/1.1\r\nHost: a\r\n${close}`);
  expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { status: 'ok' }]);
});

type Body = string | Uint8Array<ArrayBuffer>;
const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.apiKey}` });
const post = (body: Body, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { ...authorized(), ...headers }, body });

test('GEN-2 a body that is not a JSON object in UTF-8 is 400', async () => {
  for (const body of ['', '{"model":', '[]', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)]) {
    const response = await post(body);
    expect([response.status, (await readError(response)).code]).toEqual([400, 'invalid_request_error']);
  }
});

test('GEN-12 an unknown coding is 415, a form is 400, and any other content type is read as JSON', async () => {
  const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }] });
  const compressed = await post(body, { 'content-encoding': 'deflate' });
  const form = await post(body, { 'content-type': 'multipart/form-data; boundary=x' });
  const plain = await post(body, { 'content-type': 'text/plain' });
  expect([compressed.status, form.status, plain.status]).toEqual([415, 400, 200]);
  expect((await readError(compressed)).code).toBe('unsupported_media_type');
  expect((await readError(form)).param).toBe('content-type');
});

test('GEN-1 a body of exactly 20 MiB is read, one byte more is 413', async () => {
  const fill = (bytes: number): string => `{"model":"${'x'.repeat(bytes - '{"model":""}'.length)}"}`;
  const exact = await post(fill(BODY_BYTES_MAX));
  expect([exact.status, (await readError(exact)).code]).toEqual([400, 'invalid_messages']);
  const longer = await post(fill(BODY_BYTES_MAX + 1));
  expect([longer.status, (await readError(longer)).code]).toEqual([413, 'payload_too_large']);
});
