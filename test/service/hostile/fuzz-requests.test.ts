import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { judge, moneyOf, readError, refusePollution, shapeAt } from '../../support/hostile-oracle.ts';
import { allAddresses as addresses } from '../../support/hostile-routes.ts';
import { ask, exchange, openWire, readWire, toBytes, type WireRequest } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { rowsOfTier } from '../../tiers.ts';
import { hostileRequest } from './fuzz-requests.ts';

let vendor: Simulator;
let gateway: InProcessGateway;

beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 100 });
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const runs = randomRuns(import.meta.filename, { quick: 150, long: 1_500 });

test(
  'GEN-3 GEN-7 no malformed request causes a 500, a hang, a wrong error or a charge',
  async () => {
    const { apiKey, accountId } = await gateway.issue();
    let spent = 0n;
    const check = async (bytes: Buffer): Promise<void> => {
      const before = spent;
      const replies = await exchange(gateway.port, bytes);
      if (replies.length === 0) throw new Error('closed without a response');
      for (const reply of replies) {
        judge(reply, 'any');
        if (reply.headers.has('x-injected')) throw new Error('a request id of the gateway was set by a client');
      }
      spent = (await moneyOf(gateway, accountId)).spent;
      if (spent !== before) throw new Error('something was charged');
      if (gateway.crashes.length > 0) throw new Error(`a handler failed: ${gateway.crashes.join()}`);
      refusePollution();
    };
    await fc.assert(fc.asyncProperty(hostileRequest(apiKey), check), runs);
  },
  runs.numRuns * 100 + 60_000,
);

const paths = [...new Set(addresses.map(({ target }) => target))];
const twists: Readonly<Record<string, (path: string) => string>> = {
  'with a slash behind': (path) => `${path}/`,
  'with a slash before': (path) => `/${path}`,
  'with a zero byte': (path) => `${path}%00`,
  'with an escaped slash': (path) => `${path}%2f`,
  'with its parent': (path) => `${path}/..`,
  'below another path': (path) => `/x/..${path}`,
  'with a dot': (path) => `/.${path}`,
  'with escaped slashes': (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  'in capitals': (path) => path.toUpperCase(),
  'with a parameter': (path) => `${path};a=b`,
  'with half an escape': (path) => `${path}%`,
};
/** Paths on which any text can be the id of a model, a video, a request or a file, or a month. */
const endsWithId =
  /^\/(v1(beta)?\/models|v1\/videos|(app\/)?api\/keys|api\/usage|api\/statements|media|app\/assets|api-reference(\/(routes|guides))?)\/[^/]*$/;
const twisted = paths.flatMap((path) =>
  Object.entries(twists)
    .map(([how, twist]) => [how, twist(path)] as const)
    .filter(([, target]) => target !== path && !endsWithId.test(target)),
);

test.each(rowsOfTier(twisted, ([how]) => how))('GEN-7 a path %s is not a route: %s is 404', async (_, target) => {
  const { apiKey } = await gateway.issue();
  for (const method of ['GET', 'POST']) {
    const reply = await ask(gateway.port, { method, target, headers: [`authorization: Bearer ${apiKey}`] });
    // A path in capitals belongs to no protocol.
    const shape = target === target.toUpperCase() ? 'any' : shapeAt(target);
    judge(reply, shape);
    expect([reply.status, readError(reply, shape).code]).toEqual([404, 'not_found']);
  }
});

test.each(['%00', '%2f', '..', '%2e%2e', '%ff', '%', '%zz', '__proto__', 'a%0d%0ax-injected:1', '%f0%9f%98%80'])(
  'GEN-7 the model id %s in a path is 404',
  async (id) => {
    const { apiKey } = await gateway.issue();
    const reply = await ask(gateway.port, { target: `/v1/models/${id}`, headers: [`authorization: Bearer ${apiKey}`] });
    judge(reply);
    expect(reply.status).toBe(404);
    expect(reply.headers.has('x-injected')).toBe(false);
  },
);

const methodsAt = (path: string): readonly string[] =>
  addresses.filter(({ target }) => target === path).map(({ method }) => method);

test.each(rowsOfTier(addresses, ({ method, credential }) => `${method} ${credential}`))(
  'GEN-7 GEN-13 $method $target rejects other methods with 405 and Allow',
  async ({ method, target }) => {
    for (const other of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'].filter(
      (name) => !methodsAt(target).includes(name),
    )) {
      const reply = await ask(gateway.port, { method: other, target });
      judge(reply, shapeAt(target));
      expect([reply.status, readError(reply, shapeAt(target)).code]).toEqual([405, 'method_not_allowed']);
      expect(reply.headers.get('allow')).toContain(method);
    }
    const head = await ask(gateway.port, { method: 'HEAD', target });
    expect([head.status === 405, head.body]).toEqual([!methodsAt(target).includes('GET'), '']);
    expect((await ask(gateway.port, { method: 'OPTIONS', target })).status).toBe(204);
  },
);

const HOST = 'host: gateway.test';
const malformed: readonly (readonly [what: string, text: string])[] = [
  ['two Host headers', `GET /health HTTP/1.1\r\n${HOST}\r\nhost: other.test`],
  ['no Host header', 'GET /health HTTP/1.1'],
  ['a whole address as its target', `GET ftp://gateway.test/health HTTP/1.1\r\n${HOST}`],
  ['a target without a slash', `OPTIONS * HTTP/1.1\r\n${HOST}`],
  ['a header name with a blank', `GET /health HTTP/1.1\r\n${HOST}\r\na b: c`],
  ['a folded header', `GET /health HTTP/1.1\r\n${HOST}\r\na: b\r\n c: d`],
  ['headers of 40,000 bytes', `GET /health HTTP/1.1\r\n${HOST}\r\na: ${'a'.repeat(40_000)}`],
  [
    'both a length and chunks',
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
  if (!reply) throw new Error('closed without a response');
  return reply;
};

test.each(malformed)('GEN-3 GEN-4 GEN-7 %s is 400 in the one error shape, with a request id', async (_, head) => {
  const reply = await sendHead(head);
  judge(reply);
  expect([reply.status, reply.headers.has('x-request-id')]).toEqual([400, true]);
});

const posts = addresses.filter(({ method }) => method === 'POST');
test.each(rowsOfTier(posts, ({ target }) => shapeAt(target)))(
  'GEN-3 GEN-7 ambiguous HTTP at $target is 400 in the shape of its protocol',
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

test('GEN-3 garbage after a request does not change its response', async () => {
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

test('GEN-3 an unknown Expect header is rejected in the one error shape', async () => {
  judge(await ask(gateway.port, { target: '/health', headers: ['expect: a miracle'] }));
});

test.each<WireRequest>([
  { target: '/health' },
  { target: '/nowhere' },
  { target: '/v1/models' },
  { method: 'OPTIONS', target: '/v1/models' },
  { method: 'POST', target: '/v1/chat/completions', body: '{' },
])('GEN-4 $method $target has a request id of the gateway, whatever the client sends', async (request) => {
  const sent = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const reply = await ask(gateway.port, { ...request, headers: [`x-request-id: ${sent}`] });
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(reply.headers.get('x-request-id')).not.toBe(sent);
});

test("LIM-7 a client IP in the client's headers has no effect", async () => {
  const limited = await startInProcess({
    now: frozenClock,
    vendorUrl: undefined,
    environment: { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '3' },
  });
  const statuses: number[] = [];
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']) {
    const claims = [
      'x-forwarded-for',
      'x-real-ip',
      'forwarded',
      'cloudfront-viewer-address',
      'x-client-ip',
      'true-client-ip',
    ];
    const headers = claims.map((name) => `${name}: ${name === 'forwarded' ? 'for=' : ''}${address}`);
    statuses.push((await ask(limited.port, { target: '/api/models', headers })).status);
  }
  await limited.stop();
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});
