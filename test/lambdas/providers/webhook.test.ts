import { createHmac } from 'node:crypto';
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createWebhookSender, webhookUrlProblem } from '../../../lambdas/providers/webhook.ts';
import { closedPort, startVendor, type VendorServer } from './vendor-server.ts';

const SECRET = 'secret-canary';
const NOW = Date.UTC(2026, 10, 1, 0, 0, 7, 999);

const running: VendorServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

/** A client's server by a name, as a client would write it. */
const clientThat = async (
  play: Parameters<typeof startVendor>[0],
): Promise<VendorServer & { readonly named: string }> => {
  const server = await startVendor(play);
  running.push(server);
  return { ...server, named: `${server.url.replace('127.0.0.1', 'client.example')}/hook?token=query-canary` };
};

const sender = (timeoutMs?: number) =>
  createWebhookSender({
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: isIP('127.0.0.1') }]),
    now: () => NOW,
    reach: { address: (address) => address === '127.0.0.1', port: () => true },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

const body = JSON.stringify({ id: 'video_1', status: 'completed', prompt: 'é' });

/** What a delivery that must not succeed throws. */
const problemOf = async (url: string, timeoutMs = 2_000): Promise<string> => {
  const error: unknown = await sender(timeoutMs)({ url, secret: SECRET, body }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('an error was expected');
  expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toMatch(/canary/);
  return error.message;
};

test('VID-7 a delivery is one POST of the body, signed with the seconds of now', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await clientThat((request, response) => {
    seen.push(request.headers);
    response.writeHead(204).end();
  });
  await sender()({ url: server.named, secret: SECRET, body });
  expect(server.requests).toEqual([{ method: 'POST', path: '/hook?token=query-canary', body }]);
  const { 'x-service-signature': signature, ...others } = seen[0]!;
  expect(others).toEqual({
    host: new URL(server.named).host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'model-gateway-webhook/1',
    connection: 'close',
  });
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(signature))!;
  expect(Number(seconds)).toBe(Date.UTC(2026, 10, 1, 0, 0, 7) / 1_000);
  const ours = createHmac('sha256', SECRET)
    .update(Buffer.from(`${seconds}.${server.requests[0]!.body}`))
    .digest('hex');
  expect(hex).toBe(ours);
});

test.for([200, 201, 202, 204, 206, 299])('VID-7 an answer of %i takes the delivery', async (status) => {
  const server = await clientThat((_, response) => response.writeHead(status).end());
  await sender()({ url: server.named, secret: SECRET, body });
  expect(server.requests).toHaveLength(1);
});

test.for([300, 301, 302, 303, 304, 307, 308, 400, 401, 404, 410, 429, 500, 503])(
  'VID-7 an answer of %i does not, and no redirect is followed',
  async (status) => {
    const server = await clientThat((request, response) =>
      request.url === '/there' ? response.end() : response.writeHead(status, { location: '/there' }).end('see there'),
    );
    expect(await problemOf(server.named)).toBe(`The webhook was not delivered: the server answered ${status}.`);
    expect(server.requests).toHaveLength(1);
  },
);

test('VID-7 the answer has no need to end, is not read and its connection is closed', async () => {
  const read = vi.spyOn(IncomingMessage.prototype, 'read');
  const server = await clientThat((_, response) => {
    response.on('error', () => undefined);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await sender()({ url: server.named, secret: SECRET, body });
  await vi.waitFor(() => expect(server.sockets[0]?.destroyed).toBe(true));
  expect(
    read.mock.contexts.filter((message) => message instanceof IncomingMessage && message.statusCode === 200),
  ).toEqual([]);
  read.mockRestore();
});

const late = 'The webhook was not delivered: the server gave no answer in time.';
const unreachable = 'The webhook was not delivered: the server cannot be reached.';

test('VID-7 a server that does not answer in time is given up, its connection closed', async () => {
  const silent = await clientThat(() => undefined);
  expect(await problemOf(silent.named, 60)).toBe(late);
  const dripping = await clientThat((request) => {
    const timer = setInterval(() => request.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10);
    request.socket.once('close', () => clearInterval(timer));
  });
  expect(await problemOf(dripping.named, 60)).toBe(late);
  for (const { sockets } of [silent, dripping]) await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
});

test('VID-7 the limit is 10 seconds when nothing is said', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const hangs = createWebhookSender({ lookup: () => undefined, now: () => NOW });
    const pending = expect(hangs({ url: 'https://client.example/', secret: SECRET, body })).rejects.toThrow(late);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(9_999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    await pending;
  } finally {
    vi.useRealTimers();
  }
});

test.for([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['an end', ''],
])('VID-7 a server that answers with %s cannot be reached', async ([, text]) => {
  const server = await clientThat((request) => request.socket.end(text!));
  expect(await problemOf(server.named)).toBe(unreachable);
  expect(server.requests).toHaveLength(1);
});

test('VID-7 nobody listening, no such name and an inner name read the same', async () => {
  expect(await problemOf(`http://client.example:${await closedPort()}/?query-canary`)).toBe(unreachable);
  for (const lookup of [
    (_: string, __: object, callback: (error: Error | null, found: []) => void) => callback(new Error('ENOTFOUND'), []),
    (_: string, __: object, callback: (error: null, found: { address: string; family: number }[]) => void) =>
      callback(null, [{ address: '10.0.0.1', family: 4 }]),
  ]) {
    const send = createWebhookSender({ lookup, now: () => NOW });
    await expect(send({ url: 'https://client.example/', secret: SECRET, body })).rejects.toThrow(unreachable);
  }
});

test('VID-7 a URL of 2048 characters is the longest', () => {
  const url = (length: number): string => `https://client.example/${'a'.repeat(length - 23)}`;
  expect(url(2_048)).toHaveLength(2_048);
  expect(webhookUrlProblem(url(2_048))).toBeUndefined();
  expect(webhookUrlProblem(url(2_049))).toBe('the URL is longer than 2048 characters.');
});

test.for(['https://localhost/x', 'http://localhost.:8080/', 'http://a.localhost/', 'https://intranet/x'])(
  'VID-7 %s names no public server and is refused when the video is asked for',
  (url) => expect(webhookUrlProblem(url)).toBe('the URL must be public.'),
);
