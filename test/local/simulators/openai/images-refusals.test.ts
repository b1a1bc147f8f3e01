import type OpenAI from 'openai';
import { toFile } from 'openai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { pictureOf } from '../../../../local/simulators/picture.ts';
import { startSimulated } from '../simulated.ts';

const { simulator, openai } = await startSimulated();

const headers = { authorization: 'Bearer sk-test' };
const post = (more: object) =>
  fetch(`${simulator.url}/v1/images/generations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-image-2', prompt: 'a sea', ...more }),
  });

const errorSchema = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
    moderation_details: z.strictObject({ moderation_stage: z.string(), categories: z.array(z.string()) }).optional(),
  }),
});
const errorOf = async (response: Response) => errorSchema.parse(await response.json()).error;

const invalid = (param: string) => ({ param, code: 'invalid_value' });
const unknown = (param: string) => ({ param, code: 'unknown_parameter' });

test.each<[string, object, object]>([
  ['no prompt', { prompt: undefined }, { param: 'prompt', code: 'missing_required_parameter' }],
  ['an empty prompt', { prompt: '' }, invalid('prompt')],
  ['another model', { model: 'dall-e-3' }, invalid('model')],
  ['a response format', { response_format: 'b64_json' }, unknown('response_format')],
  ['no image at all', { n: 0 }, invalid('n')],
  ['eleven images', { n: 11 }, invalid('n')],
  ['half an image', { n: 1.5 }, { param: 'n' }],
  ['a number in words', { n: '2' }, { param: 'n', code: 'invalid_type' }],
  ['another quality', { quality: 'hd' }, invalid('quality')],
  ['another background', { background: 'white' }, invalid('background')],
  ['a transparent JPEG', { background: 'transparent', output_format: 'jpeg' }, invalid('background')],
  ['another output format', { output_format: 'gif' }, invalid('output_format')],
  ['a compressed PNG', { output_compression: 50 }, invalid('output_compression')],
  ['another moderation', { moderation: 'none' }, invalid('moderation')],
  ['a size of older models', { model: 'gpt-image-1.5', size: '1024x640' }, invalid('size')],
  ['a size beyond the multiples', { size: '1792x936' }, invalid('size')],
  ['an edge too long', { size: '3856x1600' }, invalid('size')],
  ['a ratio too wide', { size: '3072x1008' }, invalid('size')],
  ['too many pixels', { size: '2896x2880' }, invalid('size')],
  ['too few pixels', { size: '1024x624' }, invalid('size')],
])('a request with %s is rejected', async (_, more, error) => {
  const response = await post(more);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error', ...error });
});

test.each(['1024x640', '3840x2160', '2160x3840', '2880x2880', '1440x480'])('the size %s is accepted', async (size) => {
  expect((await post({ size, quality: 'low' })).status).toBe(200);
});

const png = (width = 64, height = 48): Buffer => pictureOf({ width, height, about: 'a' });
const upload = (bytes: Buffer, type = 'image/png') => toFile(bytes, 'a.png', { type });
const edit = async (image: OpenAI.ImageEditParams['image'], more: Partial<OpenAI.ImageEditParamsNonStreaming> = {}) =>
  openai.images.edit({ model: 'gpt-image-2', prompt: 'a sea', image, ...more });

test('an edit accepts only images, at most sixteen', async () => {
  await expect(edit([await upload(png()), await upload(Buffer.from('no image'))])).rejects.toMatchObject({
    status: 400,
    type: 'image_generation_user_error',
    param: null,
    code: 'invalid_image_file',
    message: /for image 2/,
  });
  await expect(edit([await upload(png(), 'application/octet-stream')])).rejects.toMatchObject({
    status: 400,
    param: 'image[0]',
    code: 'unsupported_file_mimetype',
  });
  await expect(edit([])).rejects.toMatchObject({ param: 'image', code: 'missing_required_parameter' });
  const seventeen = await Promise.all(Array.from({ length: 17 }, () => upload(png())));
  await expect(edit(seventeen)).rejects.toMatchObject({ param: 'image', code: 'array_above_max_length' });
});

test('a mask must be a PNG with the size of the first image', async () => {
  const images = [await upload(png()), await upload(png(32, 32))];
  expect((await edit(images, { mask: await upload(png()) })).data).toHaveLength(1);
  await expect(edit(images, { mask: await upload(png(32, 32)) })).rejects.toMatchObject({
    code: 'invalid_mask_image_format',
  });
  await expect(edit(images, { mask: await upload(png(), 'image/webp') })).rejects.toMatchObject({
    param: 'mask',
    code: 'unsupported_file_mimetype',
  });
});

const postForm = (entries: readonly (readonly [string, string | File])[]) => {
  const form = new FormData();
  for (const [name, value] of [['model', 'gpt-image-2'], ['prompt', 'a sea'], ...entries] as const) {
    form.append(name, value);
  }
  return fetch(`${simulator.url}/v1/images/edits`, { method: 'POST', headers, body: form });
};
const file = new File([new Uint8Array(png())], 'a.png', { type: 'image/png' });

test.each<[string, readonly (readonly [string, string | File])[], object]>([
  [
    'several files in a field that is not an array',
    [
      ['image', file],
      ['image', file],
    ],
    { param: 'image', code: 'duplicate_parameter' },
  ],
  [
    'two masks',
    [
      ['image[]', file],
      ['mask', file],
      ['mask', file],
    ],
    { param: 'mask', code: 'duplicate_parameter' },
  ],
  [
    'a file by another name',
    [
      ['image[]', file],
      ['picture', file],
    ],
    unknown('picture'),
  ],
  [
    'a number that is not numeric',
    [
      ['image', file],
      ['n', 'two'],
    ],
    invalid('n'),
  ],
])('a form with %s is rejected', async (_, entries, error) => {
  const response = await postForm(entries);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject(error);
});

test('a body that is not a form is rejected', async () => {
  for (const type of ['multipart/form-data; boundary=x', 'multipart/form-data', 'application/json']) {
    const response = await fetch(`${simulator.url}/v1/images/edits`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body: '--x\r\nnothing',
    });
    expect(response.status).toBe(400);
  }
});

test('a request without a key gets 401', async () => {
  for (const path of ['generations', 'edits']) {
    expect((await fetch(`${simulator.url}/v1/images/${path}`, { method: 'POST' })).status).toBe(401);
  }
});
