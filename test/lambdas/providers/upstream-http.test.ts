import dns from 'node:dns';
import { once } from 'node:events';
import http from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { hasResponded } from '../../../lambdas/core/responded-calls.ts';
import { createUpstreamHttp, type UpstreamResponse } from '../../../lambdas/providers/upstream-http.ts';
import { closedPort, startVendor, type VendorServer } from './vendor-server.ts';

const running: VendorServer[] = [];
afterEach(async () => {
  for (const vendor of running.splice(0)) await vendor.stop();
});

const vendorThat = async (play: Parameters<typeof startVendor>[0]): Promise<VendorServer> => {
  const vendor = await startVendor(play);
  running.push(vendor);
  return vendor;
};

/** Keeps connections open long enough for a busy machine. */
const patientHttp = () => createUpstreamHttp({ idleMs: 60_000 });

const call = (url: string, signal: AbortSignal = new AbortController().signal, http = patientHttp()) =>
  http({ url, headers: { 'content-type': 'application/json' }, body: '{"a":"é"}', signal });

/** Resolves after a connection with a finished response is free for the next request. */
const connectionIsFree = nextTurn;

const textOf = async (response: UpstreamResponse): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const thrownBy = async (action: Promise<unknown>): Promise<unknown> => {
  try {
    await action;
  } catch (error) {
    return error;
  }
  throw new Error('expected an error');
};

test('GEN-5 a request arrives once and complete, and its response is unchanged', async () => {
  const vendor = await vendorThat((_, response) => response.writeHead(201, { 'retry-after': '3' }).end('fine'));
  const response = await call(`${vendor.url}/v1/x`);
  expect([response.status, response.headers['retry-after'], await textOf(response)]).toEqual([201, '3', 'fine']);
  expect(vendor.requests).toEqual([{ method: 'POST', path: '/v1/x', body: '{"a":"é"}' }]);
});

test('ERR-9 a refused connection is 503 with Retry-After', async () => {
  const error = await thrownBy(call(`http://127.0.0.1:${await closedPort()}`));
  expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 30 });
  expect(String(error)).not.toMatch(/127\.0\.0\.1|ECONN/);
});

test('FALL-1 the circuit counts a refused connection, and ignores one that this machine lacks', async () => {
  const port = await closedPort();
  expect(await thrownBy(call(`http://127.0.0.1:${port}`))).toMatchObject({ ignoredByCircuit: false });
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation((_host: string, ...rest: unknown[]) => {
    const answer = rest.at(-1);
    const error = Object.assign(new Error('no descriptor'), { code: 'EMFILE', syscall: 'getaddrinfo' });
    if (typeof answer === 'function') process.nextTick(answer, error);
  });
  try {
    expect(await thrownBy(call(`http://localhost:${port}`))).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('The gateway cannot connect'),
      ignoredByCircuit: true,
    });
  } finally {
    lookup.mockRestore();
  }
});

test('FALL-1 a call has a response from the first bytes of its body, not from its status', async () => {
  const vendor = await vendorThat((request, response) => {
    response.writeHead(200).flushHeaders();
    if (request.url === '/body') response.write('some');
  });
  const silent = new AbortController();
  const response = await call(vendor.url, silent.signal);
  const reading = thrownBy(textOf(response));
  const begun = new AbortController();
  const { body } = await call(`${vendor.url}/body`, begun.signal);
  for await (const piece of body) {
    expect(Buffer.from(piece).toString()).toBe('some');
    break;
  }
  expect([hasResponded(silent.signal), hasResponded(begun.signal)]).toEqual([false, true]);
  for (const each of [silent, begun]) each.abort(timeout);
  expect(await reading).toBe(timeout);
});

test('ERR-9 a connection reset before the status line is 502, and is not retried', async () => {
  const vendor = await vendorThat((request) => request.socket.resetAndDestroy());
  expect(await thrownBy(call(vendor.url))).toMatchObject({ code: 'upstream_error', status: 502 });
  await wait(20);
  expect([vendor.sockets.length, vendor.requests.length]).toEqual([1, 1]);
});

test('GEN-5 an idle connection that breaks with the next request is 502 and not retried', async () => {
  const vendor = await vendorThat((request, response) => {
    if (vendor.requests.length === 1) response.end('one');
    else request.socket.destroy();
  });
  const http = patientHttp();
  await textOf(await call(vendor.url, undefined, http));
  await connectionIsFree();
  expect(await thrownBy(call(vendor.url, undefined, http))).toMatchObject({ code: 'upstream_error' });
  await wait(20);
  expect([vendor.sockets.length, vendor.requests.length]).toEqual([1, 2]);
});

test.for(['content-length', 'chunked'])(
  'ERR-9 a body that is cut off (%s) is 502 after the received part',
  async (form) => {
    const vendor = await vendorThat((request, response) => {
      response.writeHead(200, form === 'chunked' ? {} : { 'content-length': '100' });
      response.write('half', () => request.socket.resetAndDestroy());
    });
    const response = await call(vendor.url);
    const pieces: string[] = [];
    const error = await thrownBy(
      (async () => {
        for await (const piece of response.body) pieces.push(Buffer.from(piece).toString());
      })(),
    );
    expect(error).toMatchObject({ code: 'upstream_error' });
    expect(pieces.join('')).toMatch(/^(half)?$/);
    expect(vendor.requests).toHaveLength(1);
  },
);

test('ERR-9 a response that is not HTTP is 502', async () => {
  const vendor = await vendorThat((request) => request.socket.end('HELLO\r\n\r\n'));
  expect(await thrownBy(call(vendor.url))).toMatchObject({ code: 'upstream_error' });
});

const timeout = new GatewayError('upstream_timeout', 'time is over');

test('LIM-6 an abort before, during and after the status line is thrown as its reason', async () => {
  const early = new AbortController();
  early.abort(timeout);
  const vendor = await vendorThat((request, response) => {
    if (request.url === '/body') response.writeHead(200).write('some');
  });
  expect(await thrownBy(call(vendor.url, early.signal))).toBe(timeout);
  expect(vendor.requests).toHaveLength(0);

  const waiting = new AbortController();
  const pending = thrownBy(call(vendor.url, waiting.signal));
  await vendor.received(1);
  waiting.abort(timeout);
  expect(await pending).toBe(timeout);

  const reading = new AbortController();
  const response = await call(`${vendor.url}/body`, reading.signal);
  const read = thrownBy(textOf(response));
  reading.abort(timeout);
  expect(await read).toBe(timeout);

  const unread = new AbortController();
  const { body } = await call(`${vendor.url}/body`, unread.signal);
  unread.abort(timeout);
  await nextTurn();
  expect(await thrownBy(textOf({ ...response, body }))).toBe(timeout);
});

test('LIM-6 an abort of a complete but unread response only closes its connection', async () => {
  const vendor = await vendorThat((_, response) => response.end('whole'));
  const http = patientHttp();
  // Only on a reused connection does the response arrive before it is read.
  await textOf(await call(vendor.url, undefined, http));
  const abort = new AbortController();
  const { body } = await call(vendor.url, abort.signal, http);
  for await (const _ of body) break;
  abort.abort(timeout);
  await expect.poll(() => vendor.sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(await textOf(await call(vendor.url, undefined, http))).toBe('whole');
});

test('LIM-6 an abort of an arrived response that a slow reader has not read is thrown', async () => {
  const vendor = await vendorThat((_, response) => response.end('x'.repeat(200_000)));
  const abort = new AbortController();
  const { body } = await call(vendor.url, abort.signal);
  const reader = body[Symbol.asyncIterator]();
  await reader.next();
  await wait(50);
  abort.abort(timeout);
  const readRest = async (): Promise<void> => {
    while (!(await reader.next()).done);
  };
  expect(await thrownBy(readRest())).toBe(timeout);
});

test('LIM-6 an abort of a complete response before its first byte is read is thrown', async () => {
  const vendor = await vendorThat((_, response) => response.end('whole'));
  const http = patientHttp();
  await textOf(await call(vendor.url, undefined, http));
  const abort = new AbortController();
  const response = await call(vendor.url, abort.signal, http);
  abort.abort(timeout);
  await expect.poll(() => vendor.sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(await thrownBy(textOf(response))).toBe(timeout);
});

test('GEN-5 a connection is reused after its response was read', async () => {
  const vendor = await vendorThat((_, response) => response.end('ok'));
  const http = patientHttp();
  for (let turn = 0; turn < 5; turn += 1) {
    expect(await textOf(await call(vendor.url, undefined, http))).toBe('ok');
    await connectionIsFree();
  }
  expect([vendor.sockets.length, vendor.requests.length]).toEqual([1, 5]);
});

test('GEN-5 a discarded rest leaves the connection for the next request', async () => {
  const vendor = await vendorThat((_, response) => response.end('x'.repeat(300_000)));
  const send = patientHttp();
  const first = await call(vendor.url, undefined, send);
  for await (const _ of first.body) break;
  const resume = vi.spyOn(http.IncomingMessage.prototype, 'resume');
  first.discard();
  const [response] = resume.mock.contexts;
  resume.mockRestore();
  if (!(response instanceof http.IncomingMessage)) throw new Error('nothing was discarded');
  await once(response, 'close');
  expect(await textOf(await call(vendor.url, undefined, send))).toHaveLength(300_000);
  expect(vendor.sockets).toHaveLength(1);
});

test('GEN-5 a discarded rest that does not arrive is cut off', async () => {
  const vendor = await vendorThat((_, response) => response.writeHead(200).write('some'));
  const first = await call(vendor.url, undefined, createUpstreamHttp({ discardMs: 10 }));
  first.discard();
  await expect.poll(() => vendor.sockets[0]?.destroyed).toBe(true);
});

test('LIM-6 the client closes unused connections, and never one that waits for a response', async () => {
  const vendor = await vendorThat((_, response) => void setTimeout(() => response.end('late'), 60));
  expect(await textOf(await call(vendor.url, undefined, createUpstreamHttp({ idleMs: 10 })))).toBe('late');
  await expect.poll(() => vendor.sockets[0]?.destroyed).toBe(true);
});

test('GEN-5 the headers of a POST are sent in their order, their length last', async () => {
  let raw: readonly string[] = [];
  const vendor = await vendorThat((request, response) => {
    raw = request.rawHeaders;
    response.end();
  });
  const { signal } = new AbortController();
  const headers = { 'content-type': 'application/json', accept: 'x', b: '2', a: '1' };
  await createUpstreamHttp()({ url: vendor.url, headers, body: '{"a":"é"}', signal });
  expect(raw.filter((_, at) => at % 2 === 0)).toEqual([
    'content-type',
    'accept',
    'b',
    'a',
    'content-length',
    'Host',
    'Connection',
  ]);
  expect(raw[raw.indexOf('content-length') + 1]).toBe('10');
});

test('VID-3 a GET has no body and no length', async () => {
  let raw: readonly string[] = [];
  const vendor = await vendorThat((request, response) => {
    raw = request.rawHeaders;
    response.end('fine');
  });
  const { signal } = new AbortController();
  const response = await createUpstreamHttp()({
    url: `${vendor.url}/v1/x?y`,
    method: 'GET',
    headers: { a: '1' },
    body: '',
    signal,
  });
  expect(await textOf(response)).toBe('fine');
  expect(vendor.requests).toEqual([{ method: 'GET', path: '/v1/x?y', body: '' }]);
  expect(raw.filter((_, at) => at % 2 === 0)).toEqual(['a', 'Host', 'Connection']);
});

test('VID-2 bytes arrive unchanged, with their length', async () => {
  const received: Buffer[] = [];
  const lengths: unknown[] = [];
  const server = http.createServer((request, response) => {
    lengths.push(request.headers['content-length']);
    request.on('data', (piece: Buffer) => received.push(piece)).on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251).subarray(7);
  const { signal } = new AbortController();
  await createUpstreamHttp()({ url: `http://127.0.0.1:${port}`, headers: {}, body: '', bytes, signal });
  server.close().closeAllConnections();
  expect([lengths, Buffer.concat(received).equals(bytes)]).toEqual([['299993'], true]);
});

test.for(['GET', 'POST'] as const)('GEN-5 a redirect of a %s is not followed', async (method) => {
  const vendor = await vendorThat((_, response) => response.writeHead(307, { location: '/there' }).end());
  const { signal } = new AbortController();
  const { status } = await createUpstreamHttp()({ url: `${vendor.url}/here`, method, headers: {}, body: '', signal });
  await wait(20);
  expect([status, vendor.requests.map(({ path }) => path)]).toEqual([307, ['/here']]);
});
