import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { deliverImages } from '../../../../lambdas/core/images/draw-images.ts';
import type { DrawnImage } from '../../../../lambdas/core/images/image-wire.ts';
import { pictureOf } from '../../../../local/simulators/picture.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { imageOf, lostImage, pictures } from '../../../support/memory/scripted-image-wire.ts';
import { imageWorld } from './image-world.ts';

const as = (format: 'url' | 'b64_json') => ({ format, signal: new AbortController().signal });

const filtered = new GatewayError('content_filter', 'not this one');
const gone = new GatewayError('upstream_error', 'the URL is gone');
const noImage = imageOf(Buffer.from('<!doctype html><title>no image</title>'));
const cut = imageOf(pictureOf({ width: 16, height: 16, about: 'a' }).subarray(0, 12));
const wideBytes = pictureOf({ width: 48, height: 16, about: 'wide' });
const wide = imageOf(wideBytes);

test("IMG-1 images are returned as links, in the provider's order, with their real dimensions", async () => {
  const { deps, media } = await imageWorld();
  const images: readonly DrawnImage[] = [{ ...wide, revisedPrompt: 'a wide cat' }, ...pictures(1)];
  const made = await deliverImages(deps, images, as('url'));
  expect(made).toEqual([
    {
      content: { kind: 'url', url: expect.stringMatching(/^https:\/\/media\.example\/media\/\d{10}-0{31}1$/) },
      ...{ width: 48, height: 16, revisedPrompt: 'a wide cat' },
    },
    {
      content: { kind: 'url', url: expect.stringMatching(/-0{31}2$/) },
      ...{ width: 16, height: 16, revisedPrompt: undefined },
    },
  ]);
  const stored = [...media.files.values()];
  expect(stored.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
  expect(stored[0]?.bytes).toEqual(Uint8Array.from(pictureOf({ width: 48, height: 16, about: 'wide' })));
});

test('IMG-1 a base64 image is returned without being stored', async () => {
  const { deps, media } = await imageWorld();
  const [made] = await deliverImages(deps, [wide], as('b64_json'));
  const text = pictureOf({ width: 48, height: 16, about: 'wide' }).toString('base64');
  expect(made?.content).toEqual({ kind: 'base64', text });
  expect(media.files.size).toBe(0);
});

test('IMG-9 an image gets the requested size, or is returned as generated if it cannot be fitted', async () => {
  const size = { width: 16, height: 16 };
  const square = pictureOf({ ...size, about: 'fitted' });
  const results = { square, wrong: pictureOf({ width: 17, height: 16, about: 'wrong' }), none: undefined };
  const generated = { width: 48, height: 16 };
  for (const [result, expected] of [
    ['square', { ...size, generated }],
    ['wrong', { ...generated, generated }],
    ['none', { ...generated, generated }],
  ] as const) {
    const { deps } = await imageWorld({ fitImage: async () => results[result] });
    const [made, exact] = await deliverImages(deps, [wide, ...pictures(1)], { ...as('b64_json'), size });
    expect(made).toMatchObject(expected);
    expect(made?.content).toMatchObject({ text: (result === 'square' ? square : wideBytes).toString('base64') });
    expect(exact).not.toHaveProperty('generated');
  }
});

test.for([
  ['an image that cannot be downloaded', lostImage(gone)],
  ['a filtered image', lostImage(filtered)],
  ['an invalid image', noImage],
  ['a truncated image', cut],
  ['an empty image', imageOf(new Uint8Array())],
] as const)('IMG-7 %s is left out, and the others are returned', async ([, lost]) => {
  const { deps } = await imageWorld();
  for (const images of [
    [lost, wide],
    [wide, lost],
  ]) {
    const made = await deliverImages(deps, images, as('b64_json'));
    expect(made.map(({ width }) => width)).toEqual([48]);
  }
});

test('IMG-7 if no image can be delivered, the error of the first image is thrown', async () => {
  const { deps } = await imageWorld();
  await expect(deliverImages(deps, [lostImage(filtered), noImage], as('url'))).rejects.toBe(filtered);
  await expect(deliverImages(deps, [noImage, lostImage(filtered)], as('url'))).rejects.toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('Nothing was charged'),
  });
});

test('IMG-7 a programming error is thrown even if another image is delivered', async () => {
  const bug = new TypeError('no such field');
  const { deps } = await imageWorld();
  await expect(deliverImages(deps, [wide, lostImage(bug)], as('url'))).rejects.toBe(bug);
});

test.for([
  ['fails', fails],
  ['loses its reply', losesReply],
] as const)('IMG-6 a store that %s once is called again, and the link leads to its image', async ([, fault]) => {
  const world = await imageWorld({ fault: (_call, nth) => (nth === 0 ? fault : undefined) });
  const [made] = await world.clock.until(deliverImages(world.deps, [wide], as('url')));
  expect(made?.content.kind === 'url' && world.hasImages(made.content.url)).toBe(true);
});

test('BILL-14 an image that cannot be stored is 503 with Retry-After 30', async () => {
  const world = await imageWorld({ fault: () => fails });
  await expect(world.clock.until(deliverImages(world.deps, [wide], as('url')))).rejects.toMatchObject({
    code: 'service_unavailable',
    status: 503,
    retryAfterSeconds: 30,
    upstreamFailed: false,
  });
});
