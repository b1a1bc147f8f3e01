import { afterAll, beforeAll, expect, test } from 'vitest';
import { isOwnHost } from '../../../local/page/guard.ts';
import { ask, postJson, type RawAsk, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
beforeAll(async () => {
  served = await startTestPage();
});
afterAll(() => served.stop());

const json = { 'content-type': 'application/json' };
const say: RawAsk = { method: 'POST', path: '/local/say', body: '{"text":"hello","language":"en"}' };
const paths = ['/', '/local/main.js', '/local/state', '/local/events', '/local/nothing'];

test.each(paths)('%s is forbidden under a foreign host name', async (path) => {
  for (const host of ['evil.example', `evil.example:${served.port}`, `127.0.0.1.evil.example:${served.port}`]) {
    const { status, body } = await ask(served.port, { path, headers: { host } });
    expect(status).toBe(403);
    expect(body).not.toContain('sk-service');
  }
});

test.each<[string, boolean, number?]>([
  ['127.0.0.1:8787', true],
  ['localhost', true, 80],
  ['localhost:8787', true],
  ['LocalHost:8787', true],
  ['[::1]:8787', true],
  ['127.0.0.1', false],
  ['127.0.0.1:87', false],
  ['localhost:8787.evil.example', false],
  ['', false],
])('the host "%s" is this machine\'s own: %s', (host, own, port = 8787) => {
  expect(isOwnHost(host, port)).toBe(own);
});

test.each([
  ['another site', { origin: 'https://evil.example' }],
  ['another port', { origin: 'http://127.0.0.1:1' }],
  ['a page without an origin', { origin: 'null' }],
  ['another site, by its fetch', { 'sec-fetch-site': 'cross-site' }],
  ['another port, by its fetch', { 'sec-fetch-site': 'same-site' }],
])('a POST from %s is forbidden and sends no message', async (_name, headers) => {
  const { status } = await ask(served.port, { ...say, headers: { ...json, ...headers } });
  expect(status).toBe(403);
  expect(served.messenger.messages(1001)).toEqual([]);
});

test.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonp'])(
  'a POST with a content type that a form can send is rejected: %s',
  async (type) => {
    const { status } = await ask(served.port, { ...say, headers: type === undefined ? {} : { 'content-type': type } });
    expect(status).toBe(415);
    expect(served.messenger.messages(1001)).toEqual([]);
  },
);

test.for([
  [{ method: 'POST', path: '/' }, 415, 'unsupported_media_type'],
  [{ method: 'POST', path: '/', headers: json }, 405, 'method_not_allowed'],
  [{ path: '/local/nothing' }, 404, 'not_found'],
  [{ path: '/', headers: { host: 'evil.example' } }, 403, 'invalid_request_error'],
] as const)('GEN-3 the page rejects %j with an error in the shape of the gateway', async ([request, status, code]) => {
  const response = await ask(served.port, request);
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body)).toEqual({
    error: { message: expect.any(String), type: 'invalid_request_error', code, param: null },
  });
});

test('a script of another site cannot read the state, even without an Origin header', async () => {
  const { status } = await ask(served.port, { path: '/local/state', headers: { 'sec-fetch-site': 'same-site' } });
  expect(status).toBe(403);
});

test('the local page can load everything, uncached, without CORS headers or framing', async () => {
  const origin = `http://127.0.0.1:${served.port}`;
  const own = { ...json, origin, 'sec-fetch-site': 'same-origin' };
  for (const path of ['/', '/?topup=a', '/local/main.js', '/local/main.css', '/local/state']) {
    const { status, headers } = await ask(served.port, { path, headers: own });
    expect([path, status]).toEqual([path, 200]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
  const head = await ask(served.port, { method: 'HEAD', path: '/' });
  expect([head.status, head.body]).toEqual([200, '']);
  expect((await ask(served.port, { ...say, headers: own })).status).toBe(202);
  expect(served.messenger.messages(1001)).toMatchObject([{ from: 'user', text: 'hello' }]);
});

test('unknown paths and methods under /local are rejected, and the server gets other paths', async () => {
  expect((await ask(served.port, { path: '/local/nothing' })).status).toBe(404);
  expect((await ask(served.port, { path: '/local' })).status).toBe(404);
  expect((await ask(served.port, { path: '/local/constructor' })).status).toBe(404);
  expect((await ask(served.port, { path: '/local/say' })).status).toBe(405);
  expect((await postJson(served.port, '/local/state', {})).status).toBe(405);
  expect((await ask(served.port, { ...say, method: 'PUT', headers: json })).status).toBe(405);
  expect((await ask(served.port, { path: '/v1/models' })).status).toBe(204);
  expect((await ask(served.port, { path: '/localhost' })).status).toBe(204);
});

test('a body that is malformed, too long or has unknown members is rejected', async () => {
  const sent = (body: string) => ask(served.port, { ...say, headers: json, body });
  expect((await sent('{')).status).toBe(400);
  expect((await sent('{"text":"","language":"en"}')).status).toBe(400);
  expect((await sent('{"text":"a","language":"en","more":1}')).status).toBe(400);
  expect((await sent(JSON.stringify({ text: 'a'.repeat(100_000), language: 'en' }))).status).toBe(413);
  expect(served.failures).toEqual([]);
});

const visiting = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test.each([
  ['a link on another site', '/?topup=local', visiting, 200],
  ['a frame of another site', '/', { ...visiting, 'sec-fetch-dest': 'iframe' }, 403],
  ['a script of another site', '/', { ...visiting, 'sec-fetch-mode': 'no-cors' }, 403],
  ['a link to data of the page', '/local/state', visiting, 403],
])('%s: %s %j gets status %i', async (_name, path, headers, status) => {
  expect((await ask(served.port, { path, headers })).status).toBe(status);
});
