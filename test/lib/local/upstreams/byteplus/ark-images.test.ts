import { imageSize } from 'image-size';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Simulator, startSimulator } from '../../../../../lib/local/upstreams/server.ts';
import { errorOf } from './ask.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

const newest = { model: 'seedream-5-5-261028', size: '1K' };

const ask = (prompt: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${simulator.url}/api/v3/images/generations`, {
    method: 'POST',
    headers: { authorization: 'Bearer ark-test', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'seedream-4-0-250828', prompt, size: '1280x720', ...more }),
  });

const answerSchema = z.strictObject({
  model: z.string(),
  created: z.int(),
  data: z.array(
    z.strictObject({
      url: z.url().optional(),
      b64_json: z.string().optional(),
      size: z.string().optional(),
      error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
  usage: z.strictObject({ generated_images: z.int(), output_tokens: z.int(), total_tokens: z.int() }).optional(),
});

const drawn = async (prompt: string, more: object = {}) => {
  const { data, ...rest } = answerSchema.parse(await (await ask(prompt, more)).json());
  const [image] = data;
  if (!image) throw new Error('no image');
  return { ...rest, image };
};

const download = async (prompt: string, more: object = {}) => {
  const { image } = await drawn(prompt, more);
  const response = await fetch(image.url ?? '');
  return { response, bytes: await response.arrayBuffer().then(Buffer.from) };
};

test('IMG-1 the picture behind the link has exactly the size asked for', async () => {
  const { image, usage, model } = await drawn('a sea');
  expect(model).toBe('seedream-4-0-250828');
  expect(image.size).toBe('1280x720');
  expect(usage).toEqual({ generated_images: 1, output_tokens: 3_600, total_tokens: 3_600 });
  const { response, bytes } = await download('a sea');
  expect(response.headers.get('content-type')).toBe('image/png');
  expect(imageSize(bytes)).toMatchObject({ type: 'png', width: 1_280, height: 720 });
  expect((await download('a sea')).bytes.equals(bytes)).toBe(true);
  expect((await download('a lake')).bytes.equals(bytes)).toBe(false);
});

test('IMG-2 a step by its name is a square, and without a size it is 2K', async () => {
  expect((await drawn('x', newest)).image.size).toBe('1024x1024');
  expect((await drawn('x', { ...newest, size: '1.5K' })).image.size).toBe('1536x1536');
  expect((await drawn('x', { size: undefined })).image.size).toBe('2048x2048');
});

test('IMG-1 an image may come in the answer', async () => {
  const { image } = await drawn('x', { response_format: 'b64_json' });
  expect(imageSize(Buffer.from(image.b64_json ?? '', 'base64'))).toMatchObject({ width: 1_280, height: 720 });
  expect(image.url).toBeUndefined();
});

test('ERR-5 the link asks for its signature and for no key beside it', async () => {
  const { image } = await drawn('x');
  const url = new URL(image.url ?? '');
  expect((await fetch(`${url.origin}${url.pathname}`)).status).toBe(403);
  expect((await fetch(url, { headers: { authorization: 'Bearer ark-test' } })).status).toBe(400);
});

test('[[image-bytes n]], [[image-empty]] and [[image-html]] are files', async () => {
  expect((await download('x [[image-bytes 70000]]')).bytes).toHaveLength(70_000);
  expect((await download('x [[image-empty]]')).bytes).toHaveLength(0);
  const { response, bytes } = await download('x [[image-html]]');
  expect(response.headers.get('content-type')).toBe('text/html');
  expect(bytes.toString()).toContain('<!doctype html>');
});

test('[[image-broken]] breaks off, [[image-missing]] is a 404', async () => {
  await expect(download('x [[image-broken]]')).rejects.toThrow();
  expect((await download('x [[image-missing]]')).response.status).toBe(404);
});

test('[[image-fails]] is an item with an error, [[image-blocked]] and [[content-filter]] are refusals', async () => {
  const { image, usage } = await drawn('x [[image-fails]]');
  expect(image).toEqual({
    error: { code: 'InternalServiceError', message: expect.stringContaining('Request id: 02') },
  });
  expect(usage).toEqual({ generated_images: 0, output_tokens: 0, total_tokens: 0 });
  const blocked = await ask('x [[image-blocked]]');
  expect([blocked.status, (await errorOf(blocked)).code]).toEqual([400, 'OutputImageSensitiveContentDetected']);
  const filtered = await ask('x [[content-filter]]');
  expect([filtered.status, (await errorOf(filtered)).code]).toEqual([400, 'InputTextSensitiveContentDetected']);
  expect((await drawn('x [[no-usage]]')).usage).toBeUndefined();
});

test.for([
  [{ model: 'seedream-9' }, 404, 'InvalidEndpointOrModel.NotFound', ''],
  [{ prompt: '' }, 400, 'MissingParameter', 'prompt'],
  [{ size: '1279x720' }, 400, 'InvalidParameter', 'size'],
  [{ size: '4097x4096' }, 400, 'InvalidParameter', 'size'],
  [{ size: '16400x1000' }, 400, 'InvalidParameter', 'size'],
  [{ size: '3K' }, 400, 'InvalidParameter', 'size'],
  [{ size: 'large' }, 400, 'InvalidParameter', 'size'],
  [{ model: 'seedream-4-5-251128', size: '2048x1024' }, 400, 'InvalidParameter', 'size'],
  [{ ...newest, size: '4K' }, 400, 'InvalidParameter', 'size'],
  [{ ...newest, size: '2160x2160' }, 400, 'InvalidParameter', 'size'],
  [{ ...newest, sequential_image_generation: 'disabled' }, 400, 'InvalidParameter', 'sequential_image_generation'],
  [{ sequential_image_generation: 'on' }, 400, 'InvalidParameter', 'sequential_image_generation'],
  [{ output_format: 'png' }, 400, 'InvalidParameter', 'output_format'],
  [{ n: 1 }, 400, 'InvalidParameter', 'n'],
  [{ seed: 1 }, 400, 'InvalidParameter', 'seed'],
  [{ quality: 'high' }, 400, 'InvalidParameter', 'quality'],
  [{ watermark: 'no' }, 400, 'InvalidParameter', 'watermark'],
  [{ image: 'not a link' }, 400, 'InvalidImageURL.InvalidFormat', 'image'],
  [{ image: ['https://host.invalid/a.png'] }, 400, 'InvalidImageURL.NotAccessible', 'image'],
  [{ image: Array.from({ length: 15 }, () => 'https://example.com/a.png') }, 400, 'InvalidParameter', 'image'],
] as const)('ERR-9 the vendor refuses %j', async ([more, status, code, param]) => {
  const response = await ask('x', more);
  expect(response.status).toBe(status);
  expect(await errorOf(response)).toMatchObject({ code, param });
});

test('IMG-10 references by URL or as data, the field for sequences where it is known, formats of the newer', async () => {
  const image = ['https://example.com/a.png', 'data:image/png;base64,iVBORw0KGgo='];
  expect((await ask('x', { image, sequential_image_generation: 'disabled', watermark: false })).status).toBe(200);
  expect((await ask('x', { ...newest, image: image[1], output_format: 'png' })).status).toBe(200);
});

test('[[vendor-401]], [[vendor-quota]], [[status 429 retry-after 7]] and a missing key are refused', async () => {
  expect((await ask('x [[vendor-401]]')).status).toBe(401);
  expect((await ask('x', {}, { authorization: '' })).status).toBe(401);
  expect((await ask('x [[vendor-quota]]')).status).toBe(403);
  const busy = await ask('x [[status 429 retry-after 7]]');
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
});
