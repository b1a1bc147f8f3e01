import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { errorSchema, MODEL, readError } from '../support/gateway-chat.ts';
import { exchangeRaw } from '../support/gateway-socket.ts';

let vendor: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const call = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { method, headers });

test('GEN-10 /health answers without a key', async () => {
  const response = await call('GET', '/health');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok' });
});

test.each(['/v1/chat/completions', '/v1/models', '/v1/models/gpt-4.1-mini', '/api/models', '/api/account'])(
  'GEN-13 the preflight of %s is answered for any origin without a key',
  async (path) => {
    const response = await call('OPTIONS', path, {
      origin: 'https://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, idempotency-key',
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toMatch(/\bGET\b.*\bPOST\b/);
    // The wildcard does not cover this one header, by the standard.
    expect(response.headers.get('access-control-allow-headers')).toMatch(/\bauthorization\b/i);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  },
);

test('GEN-13 good and bad answers alike may be read by any origin', async () => {
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

test.each([
  ['GET', '/nowhere'],
  ['POST', '/v1/chat/completion'],
  ['GET', '/v1/models/'],
  ['GET', '/v1//models'],
  ['GET', '/V1/models'],
  ['OPTIONS', '/nowhere'],
  ['GET', '/v1/models/a/b'],
])('GEN-7 %s %s is 404 not_found', async (method, path) => {
  const response = await call(method, path);
  expect(response.status).toBe(404);
  expect(await readError(response)).toMatchObject({
    code: 'not_found',
    type: 'invalid_request_error',
    param: null,
  });
});

test.each([
  ['GET', '/v1/chat/completions', 'POST'],
  ['POST', '/v1/models', 'GET'],
  ['DELETE', `/v1/models/${MODEL}`, 'GET'],
  ['PUT', '/api/account', 'GET'],
  ['PROPFIND', '/api/models', 'GET'],
])('GEN-7 %s %s is 405 method_not_allowed with Allow, before any key is asked for', async (method, path, allowed) => {
  const response = await call(method, path);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')?.split(/, */)).toContain(allowed);
  expect(response.headers.get('allow')?.split(/, */)).not.toContain(method);
  expect(await readError(response)).toMatchObject({ code: 'method_not_allowed', param: null });
});

test.each(['/health', '/api/models', '/v1/chat/completions'])('GEN-7 HEAD %s is 405 without a body', async (path) => {
  const response = await call('HEAD', path);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBeTruthy();
  expect(await response.text()).toBe('');
});

test('GEN-7 the query decides nothing', async () => {
  const response = await call('GET', '/health?path=/v1/models&method=POST');
  expect(response.status).toBe(200);
});

const close = 'Connection: close\r\n\r\n';

test.each([
  ['two Host headers', `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`],
  ['an absolute-form target', `GET http://example.com/health HTTP/1.1\r\nHost: example.com\r\n${close}`],
  ['the asterisk', `OPTIONS * HTTP/1.1\r\nHost: a\r\n${close}`],
  ['an authority', `GET example.com:443 HTTP/1.1\r\nHost: a\r\n${close}`],
  ['a method nobody knows', `BREW /health HTTP/1.1\r\nHost: a\r\n${close}`],
  [
    'two lengths',
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n${close}{}`,
  ],
  [
    'a length beside chunks',
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${close}0\r\n\r\n`,
  ],
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['no Host header', `GET /health HTTP/1.1\r\n${close}`],
])('GEN-7 %s is 400 with the one error shape', async (_what, request) => {
  const answer = await exchangeRaw(gateway.url, request);
  expect(answer.status).toBe(400);
  expect(errorSchema.parse(JSON.parse(answer.body)).error).toMatchObject({
    code: 'invalid_request_error',
    type: 'invalid_request_error',
  });
});

test('GEN-4 even what is refused for its form has a request id', async () => {
  const answer = await exchangeRaw(gateway.url, `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
});

test('GEN-7 one Host header and a path are served over the same raw socket', async () => {
  const answer = await exchangeRaw(gateway.url, `GET /health HTTP/1.1\r\nHost: a\r\n${close}`);
  expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { status: 'ok' }]);
});

type Body = string | Uint8Array<ArrayBuffer>;
const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.apiKey}` });
const post = (body: Body, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { ...authorized(), ...headers }, body });

test.each<[string, Body]>([
  ['empty', ''],
  ['broken', '{"model":'],
  ['an array', '[]'],
  ['no object', '"hello"'],
  ['no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['too deep', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`],
])('GEN-2 a body that is %s is 400', async (_what, body) => {
  const response = await post(body);
  expect(response.status).toBe(400);
  expect((await readError(response)).code).toBe('invalid_request_error');
});

test('GEN-12 a compressed body is 415, a form is 400, and any other content type is read as JSON', async () => {
  const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }] });
  const compressed = await post(body, { 'content-encoding': 'gzip' });
  const form = await post(body, { 'content-type': 'multipart/form-data; boundary=x' });
  const plain = await post(body, { 'content-type': 'text/plain' });
  expect([compressed.status, form.status, plain.status]).toEqual([415, 400, 200]);
  expect((await readError(compressed)).code).toBe('unsupported_media_type');
  expect((await readError(form)).param).toBe('content-type');
});

const LIMIT = 20_971_520;

test('GEN-1 a body of exactly 20 MiB is read, one byte more is 413', async () => {
  const fill = (bytes: number): string => `{"model":"${'x'.repeat(bytes - '{"model":""}'.length)}"}`;
  const exact = await post(fill(LIMIT));
  expect([exact.status, (await readError(exact)).code]).toEqual([400, 'invalid_messages']);
  const longer = await post(fill(LIMIT + 1));
  expect([longer.status, (await readError(longer)).code]).toEqual([413, 'payload_too_large']);
});
