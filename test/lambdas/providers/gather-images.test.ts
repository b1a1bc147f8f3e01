import { afterEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { gatherImages } from '../../../lambdas/providers/gather-images.ts';
import type { ImageFetch } from '../../../lambdas/providers/image-fetch.ts';

const MIB = 1024 * 1024;
const place = (index: number) => `messages[0].content[${index}].image_url.url`;

const urlsOf = (count: number) => Array.from({ length: count }, (_, index) => `https://a.test/${index}`);

const gathered = (fetchImage: ImageFetch, urls: readonly string[]) =>
  gatherImages(
    urls.map((url, index) => ({ kind: 'image', url, detail: 'auto', param: place(index) })),
    fetchImage,
  );

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
