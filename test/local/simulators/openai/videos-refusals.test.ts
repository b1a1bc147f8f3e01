import { toFile } from 'openai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { startSimulated } from '../simulated.ts';

const { simulator, openai } = await startSimulated();

const post = (body: string | FormData, headers: Record<string, string> = {}) =>
  fetch(`${simulator.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', ...headers },
    body,
  });
const postJson = (more: object) =>
  post(JSON.stringify({ model: 'sora-2', prompt: 'a sea', ...more }), { 'content-type': 'application/json' });

const errorSchema = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});
const errorOf = async (response: Response) => errorSchema.parse(await response.json()).error;

/** Returns the beginning of a PNG, up to its size. */
const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const create = async (bytes: Buffer, type = 'image/png') =>
  openai.videos.create({
    model: 'sora-2',
    prompt: 'a sea',
    size: '1280x720',
    input_reference: await toFile(bytes, 'first.png', { type }),
  });

test.each<[string, object, object]>([
  ['no prompt', { prompt: undefined }, { param: 'prompt', code: 'missing_required_parameter' }],
  ['another model', { model: 'sora-1' }, { param: 'model', code: 'invalid_value' }],
  ['another length', { seconds: '5' }, { param: 'seconds', code: 'invalid_value' }],
  ['a length that is a number', { seconds: 4 }, { param: 'seconds', code: 'invalid_type' }],
  ['another size', { size: '1920x1080' }, { param: 'size', code: 'invalid_value' }],
  ['a size of the larger model', { size: '1024x1792' }, { param: 'size', code: 'invalid_value' }],
  ['an unknown field', { duration: 4 }, { param: 'duration', code: 'unknown_parameter' }],
  ['a bare string as reference', { input_reference: 'https://example.com/a.png' }, { code: 'invalid_type' }],
  [
    'an image out of reach',
    { input_reference: { image_url: 'https://gone.invalid/a.png' } },
    { code: 'invalid_image_url' },
  ],
])('a request with %s is rejected', async (_, more, error) => {
  const response = await postJson(more);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error', ...error });
});

test('a reference file must have the width and height of the video and an image type', async () => {
  await expect(create(png(720, 1280))).rejects.toMatchObject({ status: 400, message: /Inpaint image must match/ });
  await expect(create(Buffer.from('no image'))).rejects.toMatchObject({ status: 400 });
  const code = 'unsupported_file_mimetype';
  await expect(create(png(1280, 720), 'application/octet-stream')).rejects.toMatchObject({ status: 400, code });
  const image_url = `data:image/png;base64,${png(720, 1280).toString('base64')}`;
  expect((await postJson({ input_reference: { image_url } })).status).toBe(200);
  expect((await postJson({ input_reference: { image_url }, size: '1280x720' })).status).toBe(400);
});

test('a broken form or body is rejected', async () => {
  for (const type of ['multipart/form-data; boundary=x', 'multipart/form-data', 'application/json']) {
    expect((await post('--x\r\nnothing', { 'content-type': type })).status).toBe(400);
  }
});

test('an unknown id gets 404, and the content requires a key', async () => {
  expect((await fetch(`${simulator.url}/v1/videos/video_123/content`)).status).toBe(401);
  await expect(openai.videos.retrieve('video_123')).rejects.toMatchObject({ status: 404 });
  await expect(openai.videos.downloadContent('cgt-123')).rejects.toMatchObject({ status: 404 });
});
