import { expect, test } from 'vitest';
import type { ImageCall } from '../../../../lambdas/core/images/image-wire.ts';
import { createArkImageWire } from '../../../../lambdas/providers/byteplus/images-wire.ts';
import { bytesOf, drawingWorld, fileReference, pngFile, urlReference } from '../drawing-world.ts';
import { type Answer, CANARY, errorOf } from '../video-wire-world.ts';

const baseUrl = 'https://ark.vendor.test/api/v3';
const file = 'https://files.vendor.test/1.jpeg?X-Tos-Signature=abc%2Fdef';

/**
 * Returns a response with these items, as in https://docs.byteplus.com/en/docs/ModelArk/1541523, with invented URLs.
 */
const answerWith = (...data: readonly object[]): Answer => ({
  body: {
    model: 'seedream-4-5-251128',
    created: 1757323224,
    data,
    usage: { generated_images: data.length, output_tokens: 16384, total_tokens: 16384 },
  },
});

const drawn = answerWith({ url: file, size: '2048x2048' });

const world = (...answers: readonly Answer[]) =>
  drawingWorld({ modelId: 'seedream-4-5', baseUrl, create: createArkImageWire }, ...answers);

const refusalWith = (code: string, message: string, param = ''): object => ({
  error: { code, message: `${message} Request id: 02177`, param, type: 'BadRequest' },
});

const sentFor = async (changes: Partial<ImageCall>): Promise<unknown> => {
  const { draw, sent } = world(drawn);
  await draw(changes);
  return sent();
};

test('IMG-1 an image takes one request with the provider key and a download of the returned URL', async () => {
  const ark = world(drawn);
  const drawing = await ark.draw();
  expect(ark.downloads).toEqual([]);
  expect(await bytesOf(drawing)).toEqual([`bytes of ${file}`]);
  expect(drawing.usage).toBeUndefined();
  expect(drawing.milliMegapixels).toBeUndefined();
  expect(ark.downloads).toEqual([`${file} for ${baseUrl}`]);
  expect(ark.requests).toHaveLength(1);
  expect(ark.requests[0]).toMatchObject({
    method: 'POST',
    url: `${baseUrl}/images/generations`,
    headers: { authorization: `Bearer ${CANARY}`, 'content-type': 'application/json' },
  });
  expect(ark.sent()).toEqual({
    model: 'seedream-4-5-251128',
    prompt: 'A cat',
    size: '2048x2048',
    response_format: 'url',
    watermark: false,
  });
});

test('IMG-4 one reference is a text, several are a list in order, a file is a data URI', async () => {
  const [first, second] = ['https://example.com/1.png', 'https://example.com/2.png'];
  expect(await sentFor({ references: [urlReference(first)] })).toMatchObject({ image: first });
  expect(await sentFor({ references: [urlReference(second), urlReference(first)] })).toMatchObject({
    image: [second, first],
  });
  expect(await sentFor({ references: [fileReference('image')] })).toMatchObject({
    image: `data:image/png;base64,${pngFile.toString('base64')}`,
  });
  expect(await sentFor({})).not.toHaveProperty('image');
});

test('IMG-2 the size is sent in pixels, as a tier name, or not at all', async () => {
  const pixels = { kind: 'pixels', width: 2560, height: 1440, asked: '2560x1440', tier: '2K' } as const;
  expect(await sentFor({ size: pixels })).toMatchObject({ size: '2560x1440' });
  expect(await sentFor({ size: { kind: 'tier', tier: '1.5K', aspectRatio: undefined } })).toMatchObject({
    size: '1.5K',
  });
  expect(await sentFor({ size: { kind: 'vendor', pixelsMax: 1 } })).not.toHaveProperty('size');
});

test('GEN-9 the entry’s extra fields are sent, and the client can request the watermark', async () => {
  expect(await sentFor({ extras: { watermark: true, output_format: 'png' } })).toMatchObject({
    watermark: true,
    output_format: 'png',
  });
});

test('IMG-1 an image inside the response is decoded', async () => {
  const ark = world(answerWith({ b64_json: Buffer.from('a picture').toString('base64') }));
  expect(await bytesOf(await ark.draw())).toEqual(['a picture']);
  expect(ark.downloads).toEqual([]);
});

test('IMG-7 an item with an error, or an empty item, is not an image', async () => {
  const failed = { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } };
  const drawing = await world(answerWith(failed, { url: file }, {}, { url: '' }, { url: 7 })).draw();
  expect(await bytesOf(drawing)).toEqual([`bytes of ${file}`]);
});

test.for([
  ['OutputImageSensitiveContentDetected', 'may contain sensitive information.', 'content_filter', 400],
  ['InternalServiceError', 'The service encountered an internal error.', 'upstream_error', 502],
  ['InvalidParameter', 'no', 'upstream_error', 502],
] as const)('IMG-7 without any image the first error is the result: %s', async ([code, message, expected, status]) => {
  const failure = { error: { code, message } };
  const ark = world(answerWith(failure, { error: { code: 'AccountOverdueError', message: 'x' } }));
  expect(await errorOf(ark.draw())).toMatchObject({ code: expected, status, param: null });
  expect(await errorOf(world({ body: failure }).draw())).toMatchObject({ code: expected, status });
  expect(ark.notices).toEqual([]);
});

test('ERR-3 an item about a spent account is 503 and reported', async () => {
  const ark = world(answerWith({ error: { code: 'SetLimitExceeded', message: 'the set inference limit' } }));
  expect(await errorOf(ark.draw())).toMatchObject({ code: 'service_unavailable', status: 503 });
  expect(ark.notices).toEqual(['vendor_refused_us byteplus']);
});

test.for([{ data: [] }, { data: 'x' }, {}, [], 'null', '<html>', '', { data: [null, 7, {}] }])(
  'ERR-9 the response %j is unreadable',
  async (body) => {
    expect(await errorOf(world({ body }).draw())).toMatchObject({
      code: 'upstream_error',
      message: 'The provider returned an invalid response. Nothing was charged. Retry the request.',
    });
  },
);

test('FALL-1 the circuit ignores an empty list of images, and no other unreadable response', async () => {
  expect(await errorOf(world({ body: { data: [] } }).draw())).toMatchObject({ ignoredByCircuit: true });
  expect(await errorOf(world({ body: { data: 'x' } }).draw())).toMatchObject({ ignoredByCircuit: false });
});

test.for([
  ['InvalidParameter', 'image size must be at least 3686400 pixels.', 'size', 'invalid_size', 'size'],
  [
    'InvalidParameter',
    'The parameter `size` specified in the request is not valid: image size must be at least 921600 pixels.',
    '',
    'invalid_size',
    'size',
  ],
  ['InvalidParameter', 'too many images', 'image', 'invalid_image_format', 'image'],
  ['InvalidParameter.OutputFormat', 'image format', 'output_format', 'invalid_request_error', 'output_format'],
  ['InvalidImageURL.InvalidFormat', 'The image URL is not valid.', '', 'invalid_image_format', 'image'],
  ['InvalidParameter', 'The input image cannot be downloaded.', '', 'invalid_image_format', 'image'],
  ['InputTextSensitiveContentDetected', 'may contain sensitive information.', '', 'content_filter', 'prompt'],
  ['InputImageSensitiveContentDetected', 'may contain sensitive information.', '', 'content_filter', 'image'],
  ['OutputImageSensitiveContentDetected', 'the output image may contain.', '', 'content_filter', null],
  ['InvalidParameter', 'One or more parameters are not valid.', '', 'invalid_request_error', null],
] as const)('ERR-9 400 %s, %j (%s) is %s about %s', async ([vendorCode, words, named, code, param]) => {
  const ark = world({ status: 400, body: refusalWith(vendorCode, words, named) });
  const error = await errorOf(ark.draw());
  expect(error).toMatchObject({ code, param, status: 400 });
  expect(error.message).toContain(words.replace(/\.$/, ''));
  expect(error.message).not.toMatch(/request id|input_reference/i);
  expect(ark.notices).toEqual([]);
});

test.for([
  [401, 'AuthenticationError', 'service_unavailable', 'vendor_refused_us'],
  [403, 'AccountOverdueError', 'service_unavailable', 'vendor_refused_us'],
  [404, 'InvalidEndpointOrModel.NotFound', 'model_unavailable', 'vendor_model_missing'],
] as const)('ERR-3 %i %s is 503 and reported', async ([status, vendorCode, code, notice]) => {
  const ark = world({ status, body: refusalWith(vendorCode, 'no') });
  expect(await errorOf(ark.draw())).toMatchObject({ code, status: 503 });
  expect(ark.notices).toEqual([`${notice} byteplus`]);
});

test.for([
  [429, 'upstream_capacity'],
  [500, 'upstream_error'],
  [503, 'service_unavailable'],
] as const)('GEN-5 a %i is %s, and nothing is sent again', async ([status, code]) => {
  const ark = world({ status, headers: { 'retry-after': '9' }, body: refusalWith('X', 'no') });
  expect(await errorOf(ark.draw())).toMatchObject({ code });
  expect(ark.requests).toHaveLength(1);
});
