import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../lib/local/upstreams/server.ts';
import { fuzz, fuzzTimeoutMs } from '../../support/hostile-fuzz.ts';
import { type HostileGateway, startHostileGateway } from '../../support/hostile-gateway.ts';
import { judge, moneyOf, readError, refusePollution, shapeAt } from '../../support/hostile-oracle.ts';
import { hostileRequest } from '../../support/hostile-requests.ts';
import { allAddresses as addresses } from '../../support/hostile-routes.ts';
import { ask, exchange, openWire, readWire, toBytes, type WireRequest } from '../../support/hostile-wire.ts';

let vendor: Simulator;
let gateway: HostileGateway;

beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 100 });
  gateway = await startHostileGateway({ vendor: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const part = { file: 'test/service/hostile/fuzz-requests.test.ts', share: 0.3 };

test(
  'GEN-3 GEN-7 no request, however broken, brings a 500, a hang, another error shape or a charge',
  async () => {
    const { apiKey, accountId } = await gateway.issue();
    const statuses = new Map<number, number>();
    await fuzz(part, hostileRequest(apiKey), async (bytes) => {
      const replies = await exchange(gateway.port, bytes);
      if (replies.length === 0) throw new Error('closed without an answer');
      for (const reply of replies) {
        judge(reply, 'any');
        if (reply.headers.has('x-injected')) throw new Error('a header of ours was made by a client');
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      }
      if ((await moneyOf(gateway, accountId)).spent !== 0n) throw new Error('something was charged');
      if (gateway.crashes.length > 0) throw new Error(`a handler failed: ${gateway.crashes.join()}`);
      refusePollution();
    });
    process.stdout.write(`${part.file}: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
    expect((await ask(gateway.port, { target: '/health' })).status).toBe(200);
  },
  fuzzTimeoutMs(part),
);

const paths = [...new Set(addresses.map(({ target }) => target))];
/** Where anything may be the id of a model, a video or a request there is nothing to twist but the path before it. */
const twisted = (path: string): readonly string[] =>
  twists(path).filter(
    (target) =>
      target !== path &&
      !/^\/(v1(beta)?\/models|v1\/videos|api\/usage|media|app\/assets|api-reference)\/[^/]*$/.test(target),
  );
const twists = (path: string): readonly string[] => [
  ...[`${path}/`, `/${path}`, `${path}//`, `${path}%00`, `${path}%2f`, `${path}/..`, `/x/..${path}`, `/.${path}`],
  ...[path.replaceAll('/', '%2f').replace('%2f', '/'), path.toUpperCase(), `${path};a=b`, `${path}%`, `${path}%20`],
];

test.each(paths.flatMap(twisted))('GEN-7 %s is no route: 404', async (target) => {
  const { apiKey } = await gateway.issue();
  for (const method of ['GET', 'POST']) {
    const reply = await ask(gateway.port, { method, target, headers: [`authorization: Bearer ${apiKey}`] });
    // In capitals nobody's protocol is spoken.
    const shape = target === target.toUpperCase() ? 'any' : shapeAt(target);
    judge(reply, shape);
    expect([reply.status, readError(reply, shape).code]).toEqual([404, 'not_found']);
  }
});

test.each([
  '%00',
  '%2f',
  '..',
  '%2e%2e',
  '%ff',
  '%',
  '%zz',
  '__proto__',
  'constructor',
  'a%0d%0ax-injected:1',
  '%f0%9f%98%80',
])('GEN-7 the model id %s in a path is 404', async (id) => {
  const { apiKey } = await gateway.issue();
  const reply = await ask(gateway.port, { target: `/v1/models/${id}`, headers: [`authorization: Bearer ${apiKey}`] });
  judge(reply);
  expect(reply.status).toBe(404);
  expect(reply.headers.has('x-injected')).toBe(false);
});

const methodsAt = (path: string): readonly string[] =>
  addresses.filter(({ target }) => target === path).map(({ method }) => method);

test.each(addresses)(
  'GEN-7 GEN-13 $method $target answers other methods with 405 and Allow',
  async ({ method, target }) => {
    for (const other of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'].filter(
      (name) => !methodsAt(target).includes(name),
    )) {
      const reply = await ask(gateway.port, { method: other, target });
      judge(reply, shapeAt(target));
      expect([reply.status, readError(reply, shapeAt(target)).code]).toEqual([405, 'method_not_allowed']);
      expect(reply.headers.get('allow')).toContain(method);
    }
    expect((await ask(gateway.port, { method: 'HEAD', target })).status).toBe(405);
    expect((await ask(gateway.port, { method: 'OPTIONS', target })).status).toBe(204);
  },
);

const HOST = 'host: gateway.test';
const malformed: readonly (readonly [what: string, text: string])[] = [
  ['two Host headers', `GET /health HTTP/1.1\r\n${HOST}\r\nhost: other.test`],
  ['no Host header', 'GET /health HTTP/1.1'],
  ['a whole address as its target', `GET http://gateway.test/health HTTP/1.1\r\n${HOST}`],
  ['a target without a slash', `OPTIONS * HTTP/1.1\r\n${HOST}`],
  ['a header name with a blank', `GET /health HTTP/1.1\r\n${HOST}\r\na b: c`],
  ['a folded header', `GET /health HTTP/1.1\r\n${HOST}\r\na: b\r\n c: d`],
  ['headers of 40,000 bytes', `GET /health HTTP/1.1\r\n${HOST}\r\na: ${'a'.repeat(40_000)}`],
  [
    'a length and chunks at once',
    `POST /v1/chat/completions HTTP/1.1\r\n${HOST}\r\ncontent-length: 5\r\ntransfer-encoding: chunked`,
  ],
  ['two lengths', `POST /v1/chat/completions HTTP/1.1\r\n${HOST}\r\ncontent-length: 5\r\ncontent-length: 6`],
  ['a length below zero', `POST /v1/chat/completions HTTP/1.1\r\n${HOST}\r\ncontent-length: -1`],
  ['an unknown method', `FOO /health HTTP/1.1\r\n${HOST}`],
  ['raw bytes in its target', `GET /h\xe9 HTTP/1.1\r\n${HOST}`],
  ['another protocol', 'PRI * HTTP/2.0'],
  ['no request at all', 'hello'],
];

const sendHead = async (head: string) => {
  const [reply] = await exchange(gateway.port, Buffer.from(`${head}\r\nconnection: close\r\n\r\n`, 'latin1'));
  if (!reply) throw new Error('closed without an answer');
  return reply;
};

test.each(malformed)('GEN-7 GEN-3 %s is 400 in the one error shape', async (_, head) => {
  const reply = await sendHead(head);
  judge(reply);
  expect(reply.status).toBe(400);
});

const wellFormed = addresses.filter(({ method }) => method === 'POST');
test.each(wellFormed)(
  'GEN-3 GEN-7 what is ambiguous HTTP at $target is 400 in the shape of its protocol',
  async ({ target }) => {
    const heads = [
      `POST ${target} HTTP/1.1\r\n${HOST}\r\nhost: other.test\r\ncontent-length: 0`,
      `POST ${target} HTTP/1.1\r\n${HOST}\r\nexpect: a miracle\r\ncontent-length: 0`,
      `POST ${target} HTTP/1.1\r\ncontent-length: 0`,
    ];
    for (const reply of await Promise.all(heads.map(sendHead))) {
      judge(reply, shapeAt(target));
      expect(reply.status).toBe(400);
      expect(reply.headers.has('request-id')).toBe(shapeAt(target) === 'messages');
    }
  },
);

test('GEN-4 what is no valid HTTP is refused with a request id too', async () => {
  const without: string[] = [];
  for (const [what, head] of malformed) {
    if (!(await sendHead(head)).headers.has('x-request-id')) without.push(what);
  }
  expect(without).toEqual([]);
});

test('GEN-3 rubbish behind a request does not break into its answer', async () => {
  const { apiKey } = await gateway.issue();
  const body = '{"model":"gpt-4.1-mini","stream":true,"messages":[{"role":"user","content":"[[pause 20]] hi"}]}';
  const request = toBytes({
    ...{ method: 'POST', target: '/v1/chat/completions', body },
    headers: [`authorization: Bearer ${apiKey}`],
  });
  const socket = await openWire(gateway.port);
  const read = readWire(socket);
  socket.write(request);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.write('\0 rubbish \r\n\r\n');
  expect((await read).toString()).not.toContain('HTTP/1.1 400');
});

test('GEN-3 an expectation nobody can meet is answered in the one error shape', async () => {
  judge(await ask(gateway.port, { target: '/health', headers: ['expect: a miracle'] }));
});

test.each<WireRequest>([
  { target: '/health' },
  { target: '/nowhere' },
  { target: '/v1/models' },
  { method: 'OPTIONS', target: '/v1/models' },
  { method: 'POST', target: '/v1/chat/completions', body: '{' },
])('GEN-4 $method $target carries a request id of ours, whatever the client sends', async (request) => {
  const sent = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const reply = await ask(gateway.port, { ...request, headers: [`x-request-id: ${sent}`] });
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(reply.headers.get('x-request-id')).not.toBe(sent);
});

test("LIM-7 a client's own word on its address changes nothing", async () => {
  const limited = await startHostileGateway({
    vendor: undefined,
    environment: { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '3' },
  });
  const statuses: number[] = [];
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']) {
    const claims = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cloudfront-viewer-address', 'true-client-ip'];
    const headers = claims.map((name) => `${name}: ${name === 'forwarded' ? 'for=' : ''}${address}`);
    statuses.push((await ask(limited.port, { target: '/api/models', headers })).status);
  }
  await limited.stop();
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});
