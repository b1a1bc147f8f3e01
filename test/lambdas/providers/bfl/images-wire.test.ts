import { expect, test } from 'vitest';
import type { ImageCall } from '../../../../lambdas/core/images/image-wire.ts';
import { createBflWire } from '../../../../lambdas/providers/bfl/images-wire.ts';
import { bytesOf, drawingWorld, fileReference, pngFile, urlReference } from '../drawing-world.ts';
import { CANARY, errorOf } from '../video-wire-world.ts';
import { baseUrl, begun, bflWorld, creation, pending, pollingUrl, ready, sample } from './bfl-world.ts';

const sentFor = async (changes: Partial<ImageCall>): Promise<unknown> => {
  const { draw, sent } = begun(ready);
  await draw(changes);
  return sent();
};

test('IMG-1 an image takes one creation, polls of the returned URL and a download', async () => {
  const bfl = begun(pending, pending, ready);
  const drawing = await bfl.draw();
  expect(bfl.downloads).toEqual([]);
  expect(await bytesOf(drawing)).toEqual([`bytes of ${sample}`]);
  expect(bfl.downloads).toEqual([`${sample} for ${baseUrl}`]);
  expect(drawing.usage).toBeUndefined();
  expect(bfl.requests.map(({ method, url }) => [method, url])).toEqual([
    ['POST', 'https://api.bfl.ai/v1/flux-2-pro'],
    ['GET', pollingUrl],
    ['GET', pollingUrl],
    ['GET', pollingUrl],
  ]);
  expect(bfl.requests.map(({ headers }) => headers['x-key'])).toEqual([CANARY, CANARY, CANARY, CANARY]);
  expect(bfl.sent()).toEqual({ prompt: 'A cat', width: 2048, height: 2048 });
});

test('IMG-4 references go into numbered fields: a URL unchanged, a file as bare base64', async () => {
  const url = 'https://example.com/1.png';
  const references = [fileReference('input_image'), urlReference(url, 'input_image_2')];
  expect(await sentFor({ references })).toMatchObject({
    input_image: pngFile.toString('base64'),
    input_image_2: url,
  });
  const eight = Array.from({ length: 8 }, () => urlReference(url));
  expect(await sentFor({ references: eight })).toMatchObject({ input_image_8: url });
});

test('IMG-2 a size that the provider chooses is not sent', async () => {
  expect(await sentFor({ size: { kind: 'vendor', pixelsMax: 4_194_304 } })).toEqual({ prompt: 'A cat' });
});

test('IMG-2 a size tier is rejected, and nothing is sent', async () => {
  const bfl = bflWorld();
  const refused = bfl.check({ size: { kind: 'tier', tier: '2K', aspectRatio: undefined } });
  expect(await errorOf(refused)).toMatchObject({ code: 'invalid_size', param: 'size' });
  await bfl.check();
  expect(bfl.requests).toEqual([]);
});

test('GEN-9 the entry’s extra fields are sent', async () => {
  const extras = { seed: 7, output_format: 'png', safety_tolerance: 0 };
  expect(await sentFor({ extras })).toMatchObject(extras);
});

test.for([
  [
    { input_mp: 1, output_mp: 1.05 },
    { output: 1_050, reference: 1_000 },
  ],
  [
    { input_mp: 0, output_mp: 1.048576 },
    { output: 1_049, reference: 0 },
  ],
  [
    { input_mp: 4.07, output_mp: 4.03 },
    { output: 4_030, reference: 4_070 },
  ],
  [
    { input_mp: 1e300, output_mp: 4 },
    { output: 4_000, reference: Number.MAX_SAFE_INTEGER },
  ],
  [{ input_mp: undefined, output_mp: 1 }, undefined],
  [{ input_mp: 1, output_mp: null }, undefined],
  [{ input_mp: -1, output_mp: 1 }, undefined],
  [{ input_mp: 1, output_mp: '1' }, undefined],
] as const)('BILL-3 %j is billed as %j', async ([megapixels, expected]) => {
  const { draw } = bflWorld({ body: { ...creation, ...megapixels } }, ready);
  expect((await draw()).milliMegapixels).toEqual(expected);
});

test.for([
  'https://api.bfl.ai.evil.test/v1/get_result?id=1',
  'https://evilbfl.ai/v1/get_result?id=1',
  'https://bfl.ai/v1/get_result?id=1',
  'https://api.bfl.ai@evil.test/v1/get_result?id=1',
  'https://user:word@api.bfl.ai/v1/get_result?id=1',
  'https://api.us1.bfl.ai:8443/v1/get_result?id=1',
  'http://api.us1.bfl.ai/v1/get_result?id=1',
  'http://api.bfl.ai/v1/get_result?id=1',
  'https://169.254.169.254/latest',
  '/v1/get_result?id=1',
  '',
])('ERR-5 the provider key is not sent to "%s"', async (polling_url) => {
  const bfl = bflWorld({ body: { ...creation, polling_url } }, ready);
  expect(await errorOf(bfl.draw())).toMatchObject({
    code: 'upstream_error',
    status: 502,
    message: 'The provider returned a URL of another host. Nothing was charged. Retry the request.',
  });
  expect(bfl.requests).toHaveLength(1);
});

test.for([
  ['https://api.bfl.ai', 'https://api.eu1.eu.bfl.ai/v1/get_result?id=1'],
  ['http://127.0.0.1:4010', 'http://127.0.0.1:4010/v1/get_result?id=1'],
  ['https://relay.vendor.test/bfl', 'https://relay.vendor.test/v1/get_result?id=1'],
] as const)('ERR-5 with the base URL %s the provider key can be sent to %s', async ([base, polling_url]) => {
  const options = { modelId: 'flux-2-pro', baseUrl: base, create: createBflWire };
  const bfl = drawingWorld(options, { body: { ...creation, polling_url } }, ready);
  await bfl.draw();
  expect(bfl.requests[1]?.url).toBe(polling_url);
});

test.for([
  ['http://127.0.0.1:4010', 'http://127.0.0.1:4011/v1/get_result?id=1'],
  ['https://relay.vendor.test', 'http://relay.vendor.test/v1/get_result?id=1'],
] as const)('ERR-5 with the base URL %s the provider key is not sent to %s', async ([base, polling_url]) => {
  const options = { modelId: 'flux-2-pro', baseUrl: base, create: createBflWire };
  const bfl = drawingWorld(options, { body: { ...creation, polling_url } }, ready);
  expect(await errorOf(bfl.draw())).toMatchObject({ code: 'upstream_error' });
  expect(bfl.requests).toHaveLength(1);
});

test.for([{}, { id: 'x' }, { id: 'x', polling_url: 7 }, '<html>', ''])(
  'ERR-9 a creation with the response %j is unreadable',
  async (body) => {
    const bfl = bflWorld({ body }, ready);
    expect(await errorOf(bfl.draw())).toMatchObject({ code: 'upstream_error' });
    expect(bfl.requests).toHaveLength(1);
  },
);
