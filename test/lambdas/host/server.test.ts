import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { bodySourceOf } from '../../../lambdas/http/body-source.ts';
import { markAsCut, onClientLeft } from '../../../lambdas/http/cut-answers.ts';
import { connectTo, request } from './raw-client.ts';
import { answerWith, startHostWith } from './started-host.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const started = async (...options: Parameters<typeof startHostWith>) => {
  const host = await startHostWith(...options);
  stops.push(host.stop);
  return host;
};

const atOnce = async (): Promise<void> => undefined;

const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve) => {
    if (stream.write(text)) resolve();
    else stream.once('drain', resolve);
  });

const clientLeft = (event: object): Promise<void> => new Promise((resolve) => onClientLeft(event, resolve));

test('BILL-8 a client that leaves in the middle of a stream does not stop its handler', async () => {
  const done = Promise.withResolvers<number>();
  const host = await started(async (event, stream) => {
    let written = 0;
    for (; written < 3; written += 1) await write(stream, 'x'.repeat(10_000));
    await clientLeft(event);
    for (; written < 300; written += 1) await write(stream, 'x'.repeat(10_000));
    stream.end(() => done.resolve(written));
    await done.promise;
  });
  const client = await connectTo(host.port);
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost']));
  await expect.poll(() => client.text().length).toBeGreaterThan(20_000);
  client.socket.resetAndDestroy();
  expect(await done.promise).toBe(300);
  expect(host.crashes).toEqual([]);
});

test('BILL-8 a client that leaves before the response does not stop its handler', async () => {
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<string>();
  const host = await started(async (event, stream) => {
    begun.resolve();
    await clientLeft(event);
    await answerWith(stream, 200, 'late');
    done.resolve('done');
  });
  const client = await connectTo(host.port);
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost']));
  await begun.promise;
  client.socket.resetAndDestroy();
  expect(await done.promise).toBe('done');
  expect(host.crashes).toEqual([]);
});

test('BILL-9 a response that is cut closes the connection without a proper end', async () => {
  const host = await started(async (event, stream) => {
    await write(stream, 'a part of it');
    markAsCut(event);
    await new Promise<void>((resolve) => stream.end(resolve));
  });
  const client = await connectTo(host.port);
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost']));
  await expect.poll(client.isClosed).toBe(true);
  expect(client.text()).not.toContain('0\r\n\r\n');
  expect(host.crashes).toEqual([]);
});

test('BILL-8 a handler waits for a slow client, which receives everything', async () => {
  const bytes = 20_000_000;
  const host = await started(async (_event, stream) => {
    for (let written = 0; written < bytes; written += 1_000_000) await write(stream, 'x'.repeat(1_000_000));
    await new Promise<void>((resolve) => stream.end(resolve));
  });
  const client = await connectTo(host.port);
  client.socket.pause();
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost']));
  client.socket.resume();
  await expect.poll(() => client.text().endsWith('0\r\n\r\n')).toBe(true);
  expect(client.text().length).toBeGreaterThan(bytes);
});

test('CHAT-11 data is readable before more is written', async () => {
  const next = Promise.withResolvers<void>();
  const host = await started(async (_event, stream) => {
    stream.write('first');
    await next.promise;
    await new Promise<void>((resolve) => stream.end('second', () => resolve()));
  });
  const { body } = await fetch(`${host.url}/health`);
  const reader = body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  next.resolve();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('second');
});

test('GEN-1 a 413 is readable while the client still sends, and the rest is discarded', async () => {
  const host = await started(async (event, stream) => {
    const read = await bodySourceOf(event).read(1_000, atOnce);
    await answerWith(stream, read === 'too-long' ? 413 : 200, String(read));
  });
  const client = await connectTo(host.port);
  const bytes = 8_000_000;
  client.send(request(['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', `Content-Length: ${bytes}`]));
  client.send('x'.repeat(bytes / 2));
  await expect.poll(client.text).toContain('413 Payload Too Large');
  expect(client.isClosed()).toBe(false);
  client.send('x'.repeat(bytes / 2));
  client.send(request(['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', 'Content-Length: 2'], 'ok'));
  await expect.poll(client.text).toContain('200 OK');
});

test('GEN-15 a response that closes the connection is readable while the client still sends', async () => {
  const host = await started((_event, stream) => answerWith(stream, 408, 'late', { connection: 'close' }));
  const client = await connectTo(host.port);
  const ended = new Promise((resolve) => client.socket.once('end', resolve));
  const bytes = 8_000_000;
  client.send(request(['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', `Content-Length: ${bytes}`]));
  client.send('x'.repeat(bytes / 2));
  await ended;
  expect(client.text()).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*late/is);
});

test('GEN-1 a body that stops early is incomplete and harms nothing', async () => {
  const begun = Promise.withResolvers<void>();
  const reads: unknown[] = [];
  const host = await started(async (event, stream) => {
    begun.resolve();
    reads.push(await bodySourceOf(event).read(1_000, atOnce));
    await answerWith(stream, 400, 'incomplete');
  });
  const client = await connectTo(host.port);
  client.send(request(['POST /x HTTP/1.1', 'Host: localhost', 'Content-Length: 100'], 'half'));
  await begun.promise;
  client.socket.resetAndDestroy();
  await expect.poll(() => reads).toEqual(['incomplete']);
  expect(host.crashes).toEqual([]);
});

test.for([
  [['GET /health HTTP/1.1', 'Host: one', 'Host: two']],
  [['GET http://example.com/health HTTP/1.1']],
  [['GET http://someone@example.com/health HTTP/1.1', 'Host: example.com']],
  [['GET ftp://example.com/health HTTP/1.1', 'Host: example.com']],
  [['GET /health HTTP/1.1', 'Bad Header']],
  [['NO HTTP']],
  [['POST /x HTTP/1.1', 'Host: localhost', 'Content-Length: 1', 'Transfer-Encoding: chunked']],
] as const)('GEN-7 %j is 400 in our shape, and the connection is closed', async ([head]) => {
  let handled = 0;
  const host = await started(async (_event, stream) => {
    handled += 1;
    await answerWith(stream, 200, 'ok');
  });
  const client = await connectTo(host.port);
  client.send(request(head));
  await expect.poll(client.isClosed).toBe(true);
  expect(client.text()).toMatch(/^HTTP\/1\.1 400 /);
  expect(client.text().toLowerCase()).toContain('x-request-id: ours');
  const body = client.text().slice(client.text().indexOf('{'), client.text().lastIndexOf('}') + 1);
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request_error', param: null } });
  expect(handled).toBe(0);
});

test.for([
  ['http://gateway.example/v1/models/a?b=1&b=2', 'gateway.example', '/v1/models/a', 'b=1&b=2'],
  ['HTTPS://gateway.example:8443?b=1', 'gateway.example:8443', '/', 'b=1'],
  ['http://[2001:db8::1]:80', '[2001:db8::1]:80', '/', ''],
] as const)('GEN-7 the target %s counts as the host %s and the path %s', async ([target, ...expected]) => {
  const host = await started(({ rawPath, rawQueryString, headers }, stream) =>
    answerWith(stream, 200, JSON.stringify([headers.host, rawPath, rawQueryString])),
  );
  const client = await connectTo(host.port);
  client.send(request([`GET ${target} HTTP/1.1`, 'Host: another.example']));
  await expect.poll(client.text).toContain(JSON.stringify(expected));
});

test('GEN-7 an idle connection stays open for the time of the host', async () => {
  const host = await started((_event, stream) => answerWith(stream, 200, 'ok'), { keepAliveMs: 7_000 });
  expect((await fetch(host.url)).headers.get('keep-alive')).toBe('timeout=7');
  expect(
    (await fetch((await started((_event, stream) => answerWith(stream, 200, 'ok'))).url)).headers.get('keep-alive'),
  ).toBe('timeout=65');
});

test.for([426, 404])('GEN-7 a handler responds to a handshake with %s, and the connection stays', async (status) => {
  const host = await started((_event, stream) => answerWith(stream, status, 'the response'));
  const client = await connectTo(host.port);
  const handshake = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: a'];
  client.send(request(['GET /v1/responses HTTP/1.1', ...handshake]));
  await expect.poll(client.text).toContain('the response');
  const named = /^upgrade: HTTP\/1\.1\r$/im.test(client.text()) && /^connection: upgrade\r$/im.test(client.text());
  expect([client.text().slice(9, 12), named]).toEqual([String(status), status === 426]);
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost']));
  await expect.poll(() => client.text().split('the response').length).toBe(3);
});

test('GEN-7 a connection ends after a 426 if the client wants that', async () => {
  const host = await started((_event, stream) => answerWith(stream, 426, 'the response'));
  const client = await connectTo(host.port);
  const handshake = ['Host: localhost', 'Connection: close', 'Upgrade: websocket', 'Content-Length: 1'];
  client.send(`${request(['GET /v1/responses HTTP/1.1', ...handshake])}{`);
  await expect.poll(client.isClosed).toBe(true);
  expect(client.text()).toMatch(/^connection: close, upgrade\r$/im);
});

test('GEN-15 invalid HTTP closes a connection even if the client keeps its side open', async () => {
  const host = await started((_event, stream) => answerWith(stream, 200, 'ok'));
  const client = await connectTo(host.port, { allowHalfOpen: true });
  client.send(request(['NO HTTP']));
  await once(client.socket, 'end');
  expect(client.text()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  // A side that is only half closed would accept these bytes forever.
  const writes = setInterval(() => client.send(' '), 50);
  await expect.poll(client.isClosed, { timeout: 10_000 }).toBe(true);
  clearInterval(writes);
});

test('GEN-7 headers above 16 KB are 400 that names the limit', async () => {
  const host = await started((_event, stream) => answerWith(stream, 200, 'ok'));
  const client = await connectTo(host.port);
  client.send(request(['GET /health HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${'x'.repeat(20_000)}`]));
  await expect.poll(client.text).toContain('headers together are larger than 16 KB');
});

test('GEN-3 a handler that fails is reported and affects no other request', async () => {
  const host = await started(async (event, stream) => {
    if (event.rawPath === '/crash') throw new Error('crash');
    await answerWith(stream, 200, 'ok');
  });
  await expect(fetch(`${host.url}/crash`)).rejects.toThrow();
  expect(host.crashes).toHaveLength(1);
  expect(await (await fetch(`${host.url}/health`)).text()).toBe('ok');
});

test('GEN-1 a body is counted as it arrives, whatever its length header says', async () => {
  const host = await started(async (event, stream) => {
    const read = await bodySourceOf(event).read(10, atOnce);
    await answerWith(stream, 200, typeof read === 'string' ? read : `${read.length} bytes`);
  });
  const chunked = ['POST /x HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', 'Connection: close'];
  for (const [body, expected] of [
    ['a\r\n0123456789\r\n0\r\n\r\n', '10 bytes'],
    ['b\r\n0123456789a\r\n0\r\n\r\n', 'too-long'],
    ['0\r\n\r\n', '0 bytes'],
  ] as const) {
    const client = await connectTo(host.port);
    client.send(request(chunked, body));
    await expect.poll(client.text).toContain(expected);
    client.socket.destroy();
  }
});
