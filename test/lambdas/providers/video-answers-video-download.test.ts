import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { VideoFile } from '../../../lambdas/core/videos/video-wire.ts';
import { openVideo } from '../../../lambdas/providers/video-answers.ts';
import { errorOf, wholeOf } from './video-wire-world.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const SILENCE_MS = 30_000;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** File that a provider sends in pieces. An abort of its request ends it with the reason. */
const serverOf = (headers: Readonly<Record<string, string>> = {}) => {
  const { promise: started, resolve: start } = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = new ReadableStream<Uint8Array>({ start });
  let aborted: unknown;
  const whenStarted = async (act: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
    act(await started);
  return {
    aborted: () => aborted,
    send: (piece: string) => whenStarted((controller) => controller.enqueue(Buffer.from(piece))),
    end: () => whenStarted((controller) => controller.close()),
    breakOff: (error: Error) => whenStarted((controller) => controller.error(error)),
    open: (): Promise<VideoFile> =>
      openVideo(async (signal) => {
        signal.addEventListener('abort', () => {
          aborted = signal.reason;
          void whenStarted((controller) => controller.error(signal.reason));
        });
        return { status: 200, headers, body, discard: () => undefined };
      }),
  };
};

test.for([
  ['10', 10],
  [undefined, undefined],
  ['x', undefined],
] as const)('VID-5 a file with the announced length %s arrives complete', async ([header, length]) => {
  const server = serverOf(header === undefined ? {} : { 'content-length': header });
  const file = await server.open();
  for (const piece of ['ftyp', 'movie!']) await server.send(piece);
  await server.end();
  expect([file.length, await wholeOf(file)]).toEqual([length, 'ftypmovie!']);
  expect([server.aborted(), vi.getTimerCount()]).toEqual([undefined, 0]);
});

test('VID-5 a file that is cut off is an error', async () => {
  const server = serverOf();
  const broken = errorOf(server.open().then(wholeOf));
  await server.send('half');
  await server.breakOff(new GatewayError('upstream_error', 'broke'));
  expect(await broken).toMatchObject({ code: 'upstream_error', message: 'broke' });
  expect(vi.getTimerCount()).toBe(0);
});

test('VID-5 a response other than 200 is discarded and leaves no timer', async () => {
  let discarded = 0;
  const discard = () => {
    discarded += 1;
  };
  const opening = openVideo(async () => ({ status: 404, headers: {}, body: serverBody(), discard }));
  expect(await errorOf(opening)).toMatchObject({ code: 'upstream_error' });
  expect([discarded, vi.getTimerCount()]).toEqual([1, 0]);
});

async function* serverBody(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('no file');
}

test('VID-5 a provider that never responds is aborted after 30 s', async () => {
  const opening = errorOf(
    openVideo((signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
  );
  await pass(SILENCE_MS - 1);
  expect(vi.getTimerCount()).toBe(1);
  await pass(1);
  expect(await opening).toMatchObject({ code: 'upstream_timeout' });
});

test('VID-5 the time of silence restarts with every piece', async () => {
  const server = serverOf();
  const reading = errorOf(server.open().then(wholeOf));
  for (const piece of ['a', 'b', 'c']) {
    await pass(SILENCE_MS - 1);
    await server.send(piece);
    await pass(0);
  }
  expect(server.aborted()).toBeUndefined();
  await pass(SILENCE_MS);
  expect(await reading).toMatchObject({ code: 'upstream_timeout' });
});

test('VID-5 the time of silence does not run while the reader is busy', async () => {
  const server = serverOf();
  await server.send('a');
  const { bytes } = await server.open();
  for await (const _ of bytes) {
    await pass(10 * SILENCE_MS);
    await server.end();
  }
  expect(server.aborted()).toBeUndefined();
});

test('VID-5 a reader that leaves aborts the download', async () => {
  const server = serverOf();
  await server.send('a');
  for await (const _ of (await server.open()).bytes) break;
  expect(server.aborted()).toMatchObject({ code: 'upstream_error' });
  expect(vi.getTimerCount()).toBe(0);
});

test('VID-5 a file that is never read is aborted', async () => {
  const server = serverOf();
  const file = await server.open();
  await pass(SILENCE_MS);
  expect(await errorOf(wholeOf(file))).toMatchObject({ code: 'upstream_timeout' });
});
