import { expect, test } from 'vitest';
import * as z from 'zod';
import { startSimulated } from '../simulated.ts';
import { errorOf } from './ask.ts';

const { simulator } = await startSimulated();

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

test('ERR-5 the link requires its signature and rejects an additional key', async () => {
  const { image } = await drawn('x');
  const url = new URL(image.url ?? '');
  expect((await fetch(`${url.origin}${url.pathname}`)).status).toBe(403);
  expect((await fetch(url, { headers: { authorization: 'Bearer ark-test' } })).status).toBe(400);
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
  [{ watermark: 'no' }, 400, 'InvalidParameter', 'watermark'],
  [{ image: 'not a link' }, 400, 'InvalidImageURL.InvalidFormat', 'image'],
  [{ image: ['https://host.invalid/a.png'] }, 400, 'InvalidImageURL.NotAccessible', 'image'],
  [{ image: Array.from({ length: 15 }, () => 'https://example.com/a.png') }, 400, 'InvalidParameter', 'image'],
] as const)('ERR-9 an invalid field is rejected: %j', async ([more, status, code, param]) => {
  const response = await ask('x', more);
  expect(response.status).toBe(status);
  expect(await errorOf(response)).toMatchObject({ code, param });
});

test('ERR-9 unknown fields are ignored', async () => {
  expect((await ask('x', { quality: 'high', style: 'vivid' })).status).toBe(200);
});

test('IMG-10 references can be URLs or data, and each model accepts its own fields', async () => {
  const image = ['https://example.com/a.png', 'data:image/png;base64,iVBORw0KGgo='];
  expect((await ask('x', { image, sequential_image_generation: 'disabled', watermark: false })).status).toBe(200);
  expect((await ask('x', { ...newest, image: image[1], output_format: 'png' })).status).toBe(200);
});
