import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { localFetch, png, refusalOf, serverThat, unreachable } from './image-server.ts';

const serving = (length: boolean) =>
  serverThat((_, response) => {
    response.writeHead(200, length ? { 'content-length': png.length } : {});
    response.end(png);
  });

/** Fetches with this admission. `received` has the size of each piece. */
const fetchWith = (url: string, admit: (bytes: number | undefined) => Promise<void> | undefined, timeoutMs = 5_000) => {
  const received: number[] = [];
  const options = { param: 'image', bytesMax: 10_000, admit, received: (bytes: number) => void received.push(bytes) };
  return { received, fetched: localFetch(timeoutMs)(url, options) };
};

test.for([
  [true, png.length],
  [false, undefined],
] as const)('GEN-14 an image is admitted by its declared length before it is read: %s', async ([declares, length]) => {
  const server = await serving(declares);
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const admitted: unknown[] = [];
  const asked = Promise.withResolvers<void>();
  const { received, fetched } = fetchWith(server.named, (bytes) => {
    admitted.push(bytes);
    asked.resolve();
    return room;
  });
  await asked.promise;
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect([admitted, received]).toEqual([[length], []]);
  resolve();
  expect((await fetched).bytes).toEqual(png);
  expect(received.reduce((sum, bytes) => sum + bytes, 0)).toBe(png.length);
});

test('GEN-14 the time of a fetch stops while it waits for memory', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await serving(true);
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { fetched } = fetchWith(
    server.named,
    () => {
      asked.resolve();
      return room;
    },
    1_000,
  );
  await asked.promise;
  await vi.advanceTimersByTimeAsync(9_000);
  resolve();
  expect((await fetched).bytes).toEqual(png);
  expect(vi.getTimerCount()).toBe(0);
});

test('GEN-14 an image without memory ends with the error of its wait', async () => {
  const server = await serving(true);
  const late = new GatewayError('service_unavailable', 'late', { retryAfterSeconds: 1 });
  await expect(fetchWith(server.named, () => Promise.reject(late)).fetched).rejects.toBe(late);
});

test('CHAT-6 an image whose connection breaks while it waits for memory is rejected', async () => {
  const broken = Promise.withResolvers<void>();
  const server = await serverThat((_, response) => {
    response.on('close', broken.resolve);
    response.writeHead(200, { 'content-length': png.length });
    response.write(png.subarray(0, 100));
    setImmediate(() => response.destroy());
  });
  const { fetched } = fetchWith(server.named, async () => {
    await broken.promise;
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  });
  expect(await refusalOf(fetched)).toBe(unreachable);
});

test('CHAT-6 a piece that the request has no room for ends the fetch', async () => {
  const closed = Promise.withResolvers<void>();
  const server = await serverThat((_, response) => {
    response.on('close', closed.resolve);
    response.write(png);
  });
  const full = new GatewayError('invalid_image_format', 'full');
  const received = (): void => {
    throw full;
  };
  await expect(localFetch()(server.named, { param: 'image', bytesMax: 10_000, received })).rejects.toBe(full);
  await closed.promise;
});

test('CHAT-6 an image that arrives in pieces of any size is complete', async () => {
  const large = Buffer.concat([png, Buffer.alloc(300_000, 'ab')]);
  const server = await serverThat((_, response) => {
    let at = 0;
    for (const size of [1, 1, 65_535, 65_537, 3, 131_072]) {
      response.write(large.subarray(at, at + size));
      at += size;
    }
    response.end(large.subarray(at));
  });
  const { bytes } = await localFetch()(server.named, { param: 'image', bytesMax: large.length });
  expect(bytes.equals(large)).toBe(true);
});
