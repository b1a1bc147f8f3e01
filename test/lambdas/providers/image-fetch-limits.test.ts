import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createImageFetch } from '../../../lambdas/providers/image-fetch.ts';
import { get, localFetch, type Play, png, refusalOf, serverThat, unreachable } from './image-server.ts';

test('CHAT-6 an image of exactly the limit passes, with and without its length', async () => {
  const server = await serverThat((request, response) => {
    response.writeHead(200, request.url === '/refusalContext' ? { 'content-length': png.length } : {});
    for (let at = 0; at < png.length; at += 7) response.write(png.subarray(at, at + 7));
    response.end();
  });
  for (const path of ['/refusalContext', '/chunked']) {
    expect((await get(server.named + path, { bytesMax: png.length })).bytes).toEqual(png);
  }
});

const fakeTimeouts = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

const tooLarge = 'image: the image is larger than 507 bytes.';

test.for(['508', '99999999999', '9'.repeat(19)])('CHAT-6 a content-length of %s is rejected unread', async (length) => {
  const server = await serverThat((_, response) => {
    response.writeHead(200, { 'content-length': length });
    response.flushHeaders();
  });
  expect(await refusalOf(get(server.named, { bytesMax: 507 }))).toBe(tooLarge);
});

test('CHAT-6 one byte above the limit is rejected during the download', async () => {
  const server = await serverThat((_, response) => response.write(png));
  expect(await refusalOf(get(server.named, { bytesMax: 507 }))).toBe(tooLarge);
});

test('CHAT-6 an endless body is cut off, and its connection closed', async () => {
  const closed = Promise.withResolvers<void>();
  const server = await serverThat((_, response) => {
    response.on('close', closed.resolve);
    const more = () => {
      while (!response.destroyed && response.write(png));
    };
    response.on('drain', more);
    more();
  });
  expect(await refusalOf(get(server.named, { bytesMax: 507 }))).toBe(tooLarge);
  await closed.promise;
});

test('CHAT-6 a body shorter than its content-length is rejected', async () => {
  const server = await serverThat((_, response) => {
    response.writeHead(200, { 'content-length': png.length + 1 });
    response.write(png, () => response.destroy());
  });
  expect(await refusalOf(get(server.named))).toBe(unreachable);
});

test('CHAT-6 bytes after the content-length are not read', async () => {
  const server = await serverThat((request) =>
    request.socket.end(
      Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${png.length}\r\n\r\n`), png, png]),
    ),
  );
  expect((await get(server.named)).bytes).toEqual(png);
});

test.for([
  ['a protocol other than HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['endless headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5_000)}`],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['a closed connection', ''],
])('CHAT-6 a server that responds with %s is rejected', async ([, text]) => {
  const server = await serverThat((request) => request.socket.end(text!));
  expect(await refusalOf(get(server.named))).toBe(unreachable);
});

test.for([
  ['before the headers', () => undefined],
  [
    'with a slow series of interim responses',
    (request) => drip(() => request.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), request.socket),
  ],
  ['with slow headers', (request) => drip(() => request.socket.write('H'), request.socket, 'HTTP/1.1 200 OK\r\nx: ')],
  [
    'with a slow body',
    (_, response) => {
      response.write(png.subarray(0, 100));
      drip(() => response.write('x'), response);
    },
  ],
] as const satisfies readonly (readonly [string, Play])[])(
  'CHAT-6 a server that keeps the gateway waiting %s times out',
  async ([, play]) => {
    fakeTimeouts();
    const server = await serverThat(play);
    const refusal = refusalOf(get(server.named, { timeoutMs: 150 }));
    await server.received(1);
    vi.advanceTimersByTime(150);
    expect(await refusal).toBe(unreachable);
    expect(server.sockets).toHaveLength(1);
    await vi.waitFor(() => expect(server.sockets[0]!.destroyed).toBe(true), { timeout: 30_000 });
  },
);

const drip = (
  step: () => void,
  until: { once(event: 'close', listener: () => void): unknown; write(text: string): unknown },
  first = '',
): void => {
  if (first) until.write(first);
  const timer = setInterval(step, 10);
  until.once('close', () => clearInterval(timer));
};

test('CHAT-6 the time limit covers all redirects together', async () => {
  fakeTimeouts();
  const server = await serverThat((request, response) => {
    vi.advanceTimersByTime(60);
    response.writeHead(302, { location: `${request.url}x` }).end();
  });
  expect(await refusalOf(get(server.named, { timeoutMs: 150 }))).toBe(unreachable);
  expect(server.requests.length).toBeLessThanOrEqual(3);
});

test('CHAT-6 a name that never resolves times out, and a late result makes no connection', async () => {
  fakeTimeouts();
  const server = await serverThat((_, response) => response.end(png));
  const answer = Promise.withResolvers<() => void>();
  const fetchImage = createImageFetch({
    lookup: (_, __, callback) => answer.resolve(() => callback(null, [{ address: '127.0.0.1', family: 4 }])),
    reach: { address: () => true, port: () => true },
  });
  const refusal = refusalOf(fetchImage(server.named, { param: 'image', bytesMax: 1_000 }));
  const respond = await answer.promise;
  vi.advanceTimersByTime(10_000);
  expect(await refusal).toBe(unreachable);
  respond();
  await nextTurn();
  expect(server.sockets).toHaveLength(0);
});

test('CHAT-6 an abort of the caller throws its reason, before and during the download', async () => {
  const server = await serverThat((_, response) => response.write(png));
  const reason = new Error('the client has left');
  const options = { param: 'image', bytesMax: 10_000 };
  await expect(localFetch()(server.named, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.sockets).toHaveLength(0);
  const leaving = new AbortController();
  const fetching = localFetch()(server.named, { ...options, signal: leaving.signal });
  await server.received(1);
  leaving.abort(reason);
  await expect(fetching).rejects.toBe(reason);
  await vi.waitFor(() => expect(server.sockets[0]!.destroyed).toBe(true), { timeout: 30_000 });
});
