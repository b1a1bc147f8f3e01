import { afterEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { type RequestMemory, unlimitedMemory } from '../../../lambdas/core/limits/request-memory.ts';
import type { FetchedImages } from '../../../lambdas/core/text/text-wire.ts';
import { gatherImages } from '../../../lambdas/providers/gather-images.ts';
import type { ImageFetch } from '../../../lambdas/providers/image-fetch.ts';

const MIB = 1024 * 1024;
const place = (index: number) => `messages[0].content[${index}].image_url.url`;

const urlsOf = (count: number) => Array.from({ length: count }, (_, index) => `https://a.test/${index}`);

const fetchedWith = (memory: RequestMemory = unlimitedMemory): FetchedImages => ({ byUrl: new Map(), memory });

/** Returns the images by URL. `into` has those of an earlier gathering. */
const gathered = async (fetchImage: ImageFetch, urls: readonly string[], into = fetchedWith()) => {
  await gatherImages(
    urls.map((url, index) => ({ kind: 'image', url, detail: 'auto', param: place(index) })),
    fetchImage,
    into,
  );
  return into.byUrl;
};

/** Error of the gathering. Undefined if it succeeds. */
const refusalOf = async (fetchImage: ImageFetch, urls: readonly string[]): Promise<unknown> => {
  try {
    await gathered(fetchImage, urls);
    return undefined;
  } catch (error) {
    return error;
  }
};

const fetched = (bytes: number) => ({ mediaType: 'image/webp' as const, bytes: Buffer.alloc(bytes, 'a') });
const alike =
  (bytes: number): ImageFetch =>
  async () =>
    fetched(bytes);

/** Simulates a server that never responds. */
const endless = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

const refusalAt = (index: number) => ({
  code: 'invalid_image_format',
  status: 400,
  param: place(index),
  message: expect.stringContaining(`${place(index)}:`),
});

afterEach(() => {
  vi.useRealTimers();
});

test('CHAT-6 each URL is fetched once, in order, and named by its first use', async () => {
  const asked: string[] = [];
  const fetchImage: ImageFetch = async (url, { param }) => {
    asked.push(`${url} ${param}`);
    return { mediaType: 'image/jpeg', bytes: Buffer.from(url) };
  };
  const images = await gathered(fetchImage, ['a', 'b', 'a', 'c', 'b', 'a']);
  expect(asked).toEqual([`a ${place(0)}`, `b ${place(1)}`, `c ${place(3)}`]);
  expect([...images]).toEqual(
    ['a', 'b', 'c'].map((url) => [url, { mediaType: 'image/jpeg', bytes: Buffer.from(url) }]),
  );
});

test('CHAT-6 four images are fetched at a time', async () => {
  let running = 0;
  let most = 0;
  await gathered(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return fetched(1);
  }, urlsOf(20));
  expect(most).toBe(4);
});

test('CHAT-6 at most 20 different URLs are accepted, each of which can repeat', async () => {
  const asked: string[] = [];
  const fetchImage: ImageFetch = async (url) => {
    asked.push(url);
    return fetched(1);
  };
  expect((await gathered(fetchImage, [...urlsOf(20), ...urlsOf(20)])).size).toBe(20);
  expect(asked).toEqual(urlsOf(20));
  const many = await refusalOf(fetchImage, ['https://a.test/0', ...urlsOf(21)]);
  expect(many).toMatchObject(refusalAt(21));
  expect(asked).toHaveLength(20);
});

test.for([
  [20 * MIB, 1, undefined],
  [20 * MIB + 1, 1, 0],
  [4 * MIB, 5, undefined],
  [4 * MIB, 6, 5],
  [7 * MIB, 3, 2],
] as const)('CHAT-6 the images of a request have 20 MiB together: %i bytes each of %i', async ([bytes, count, at]) => {
  const refusal = await refusalOf(alike(bytes), urlsOf(count));
  if (at === undefined) expect(refusal).toBeUndefined();
  else expect(refusal).toMatchObject(refusalAt(at));
});

test('CHAT-6 each use of an image counts, and a fetch gets the remaining limit', async () => {
  const thrice = ['a', 'a', 'a'];
  expect(await refusalOf(alike((20 * MIB) / 4), [...thrice, 'b'])).toBeUndefined();
  expect(await refusalOf(alike((20 * MIB) / 4 + 1), [...thrice, 'b'])).toMatchObject(refusalAt(3));
  const allowed: number[] = [];
  await refusalOf(async (_, { bytesMax }) => {
    allowed.push(bytesMax);
    return fetched(6 * MIB);
  }, thrice);
  expect(allowed).toEqual([Math.floor((20 * MIB) / 3)]);
});

test('CHAT-6 the first image that fails ends the others', async () => {
  let ended = 0;
  let asked = 0;
  const failure = new GatewayError('invalid_image_format', 'gone', { param: place(1) });
  const error = await refusalOf((url, { signal }) => {
    asked += 1;
    if (url.endsWith('/1')) return Promise.reject(failure);
    signal?.addEventListener('abort', () => {
      ended += 1;
    });
    return endless(signal);
  }, urlsOf(20));
  expect([error === failure, asked, ended]).toEqual([true, 4, 3]);
});

test('CHAT-6 no more images are fetched after the bytes are used up', async () => {
  const asked: string[] = [];
  const error = await refusalOf((url, { signal }) => {
    asked.push(url);
    return url.endsWith('/0') ? Promise.resolve(fetched(20 * MIB)) : endless(signal);
  }, urlsOf(6));
  expect(asked).toEqual(urlsOf(4));
  expect(error).toMatchObject(refusalAt(4));
});

test('CHAT-6 all images together have 60 s, and no timer is left', async () => {
  vi.useFakeTimers();
  let over = false;
  const refusal = refusalOf((_, { signal }) => endless(signal), urlsOf(6)).finally(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(59_999);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect([over, vi.getTimerCount()]).toEqual([true, 0]);
  expect(await refusal).toMatchObject(refusalAt(0));
  await gathered(alike(1), urlsOf(3));
  expect(vi.getTimerCount()).toBe(0);
});

/** Simulates servers that send 1 MiB at a time, in turn, and declare no length. Never ends an image. */
const sending =
  (pieces: string[]): ImageFetch =>
  async (url, { admit, received }) => {
    await admit?.(undefined);
    for (;;) {
      received?.(MIB);
      pieces.push(url);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

test('CHAT-6 all parallel fetches of a request receive 20 MiB together', async () => {
  const pieces: string[] = [];
  expect(await refusalOf(sending(pieces), urlsOf(8))).toMatchObject({ code: 'invalid_image_format' });
  expect([pieces.length, new Set(pieces).size]).toEqual([20, 4]);
});

test('CHAT-6 images whose declared lengths exceed 20 MiB together are rejected unread', async () => {
  let read = 0;
  const declaring: ImageFetch = async (_, { admit }) => {
    await admit?.(6 * MIB);
    read += 1;
    return fetched(6 * MIB);
  };
  expect(await refusalOf(declaring, urlsOf(4))).toMatchObject(refusalAt(3));
  expect(read).toBeLessThan(4);
});

/** Memory that records its calls. */
const recorded = () => {
  const calls: (readonly [string, number])[] = [];
  const memory: RequestMemory = {
    reserve: (bytes) => void calls.push(['reserve', bytes]),
    settle: (bytes) => void calls.push(['settle', bytes]),
  };
  return { calls, memory };
};

const admitted =
  (bytes: number, declared: boolean): ImageFetch =>
  async (_, { admit, received }) => {
    await admit?.(declared ? bytes : undefined);
    received?.(bytes);
    return fetched(bytes);
  };

test.for([
  [true, [2, 1, 1]],
  [false, [20]],
] as const)(
  'GEN-14 fetched images reserve memory before they arrive, with a length: %s',
  async ([declared, reserved]) => {
    const { calls, memory } = recorded();
    await gathered(admitted(MIB, declared), ['a', 'b', 'a', 'c'], fetchedWith(memory));
    const reserves = reserved.flatMap((count) => [
      ['reserve', MIB / 4],
      ['reserve', count * MIB - MIB / 4],
    ]);
    expect(calls).toEqual([...reserves, ['settle', 4 * MIB]]);
  },
);

test('GEN-14 no connection opens before its memory is reserved, nor after another image failed', async () => {
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const rooms = [undefined, room, undefined];
  const memory = { ...unlimitedMemory, reserve: () => rooms.shift() };
  const failing: ImageFetch = async (url) => {
    asked.push(url);
    throw new GatewayError('invalid_image_format', 'broken');
  };
  await expect(gathered(failing, ['a', 'b'], fetchedWith(memory))).rejects.toThrow('broken');
  resolve();
  await new Promise((next) => setImmediate(next));
  expect(asked).toEqual(['a']);
});

test('GEN-14 an image is not read before its memory is reserved', async () => {
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const memory = { ...unlimitedMemory, reserve: () => room };
  let isDone = false;
  const asked = gathered(admitted(MIB, true), ['a'], fetchedWith(memory)).finally(() => (isDone = true));
  await new Promise((next) => setImmediate(next));
  expect(isDone).toBe(false);
  resolve();
  expect((await asked).size).toBe(1);
});

test('CHAT-6 a fallback model fetches only the images that the request has not fetched', async () => {
  const { calls, memory } = recorded();
  const into = fetchedWith(memory);
  const asked: string[] = [];
  const fetchImage: ImageFetch = (url, options) => {
    asked.push(url);
    return admitted(8 * MIB, true)(url, options);
  };
  await gathered(fetchImage, ['a'], into);
  await gathered(fetchImage, ['a', 'b'], into);
  expect([asked, calls.at(-1)]).toEqual([
    ['a', 'b'],
    ['settle', 16 * MIB],
  ]);
  await expect(gathered(fetchImage, ['a', 'b', 'c'], into)).rejects.toMatchObject({ code: 'invalid_image_format' });
});
