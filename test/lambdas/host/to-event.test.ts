import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterEach, expect, test } from 'vitest';
import { bodySourceOf } from '../../../lambdas/http/body-source.ts';
import { connectTo, request } from './raw-client.ts';
import { answerWith, startHostWith } from './started-host.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Returns the event of one raw request. */
const eventOf = async (head: readonly string[], body = ''): Promise<APIGatewayProxyEventV2> => {
  const events: APIGatewayProxyEventV2[] = [];
  const host = await startHostWith(async (event, stream) => {
    events.push(event);
    await answerWith(stream, 200, 'ok');
  });
  stops.push(host.stop);
  const client = await connectTo(host.port);
  client.send(request(head, body));
  await expect.poll(client.text).toContain('200 OK');
  client.socket.destroy();
  const [event] = events;
  if (!event) throw new Error('no event');
  return event;
};

const get = (target: string, ...headers: readonly string[]) =>
  eventOf([`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers]);

test('GEN-7 a request becomes an event of format 2.0', async () => {
  const event = await get('/v1/models?a=1', 'User-Agent: me', 'X-Some: Thing');
  expect(event).toMatchObject({
    version: '2.0',
    rawPath: '/v1/models',
    rawQueryString: 'a=1',
    headers: { host: 'localhost', 'user-agent': 'me', 'x-some': 'Thing' },
    queryStringParameters: { a: '1' },
    requestContext: {
      http: { method: 'GET', path: '/v1/models', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'me' },
      timeEpoch: Date.UTC(2026, 10, 1),
    },
    isBase64Encoded: false,
  });
  expect(event.body).toBeUndefined();
});

test('GEN-7 parameters are decoded, repeated ones joined, further question marks kept', async () => {
  const event = await get('/p?a=1&b=%20x+y&a=2&c&d=e?f&__proto__=z');
  expect(event.rawQueryString).toBe('a=1&b=%20x+y&a=2&c&d=e?f&__proto__=z');
  expect(Object.entries(event.queryStringParameters ?? {})).toEqual([
    ['a', '1,2'],
    ['b', ' x y'],
    ['c', ''],
    ['d', 'e?f'],
    ['__proto__', 'z'],
  ]);
});

test('GEN-7 cookies are separate, and repeated headers are joined', async () => {
  const event = await get('/', 'Cookie: a=1; b=2', 'Cookie: c=3', 'X-Many: 1', 'x-many: 2');
  expect(event.cookies).toEqual(['a=1', 'b=2', 'c=3']);
  expect(event.headers['x-many']).toBe('1,2');
  expect(event.headers).not.toHaveProperty('cookie');
});

test('AUTH-1 two Authorization headers become one invalid value, so that neither is used', async () => {
  const { headers } = await get('/', 'Authorization: Bearer one', 'Authorization: Bearer two');
  expect(headers.authorization).not.toMatch(/^Bearer \S+$/);
});

test('LIM-7 the address that a client claims is ignored', async () => {
  const event = await get('/', 'X-Forwarded-For: 203.0.113.7', 'CloudFront-Viewer-Address: 203.0.113.7:1');
  expect(event.requestContext.http.sourceIp).toBe('127.0.0.1');
});

test('GEN-1 the body is read only on request', async () => {
  const read: unknown[] = [];
  const host = await startHostWith(async (event, stream) => {
    const source = bodySourceOf(event);
    read.push(source.declaredBytes);
    const bytes = await source.read(100, async () => undefined);
    read.push(typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString());
    await answerWith(stream, 200, 'ok');
  });
  stops.push(host.stop);
  const answer = await fetch(`${host.url}/x`, { method: 'POST', body: 'é!' });
  expect([await answer.text(), read]).toEqual(['ok', [3, 'é!']]);
});
