import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Simulator, startSimulator } from '../../../../../lib/local/upstreams/server.ts';

let simulator: Simulator;
let openai: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  openai = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

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

/** As much of a PNG as says how large it is. */
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
])('refuses %s', async (_, more, error) => {
  const response = await postJson(more);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error', ...error });
});

test('a form is read like JSON, and kept as bytes', async () => {
  await create(png(1280, 720));
  const [request] = simulator.requests;
  expect(request?.headers['content-type']).toContain('multipart/form-data');
  expect([request?.body, Buffer.from(request!.bytes).includes(png(1280, 720))]).toEqual([undefined, true]);
  const form = new FormData();
  for (const [name, value] of Object.entries({
    model: 'sora-2-pro',
    prompt: '[[takes 0]]',
    size: '1792x1024',
    seconds: '12',
  })) {
    form.set(name, value);
  }
  const { id, ...video } = z.looseObject({ id: z.string() }).parse(await (await post(form)).json());
  expect(video).toMatchObject({ model: 'sora-2-pro', seconds: '12', size: '1792x1024', status: 'queued' });
  expect(await openai.videos.retrieve(id)).toMatchObject({ status: 'completed' });
});

test('markers act from a form, too', async () => {
  const form = new FormData();
  form.set('model', 'sora-2');
  form.set('prompt', '[[vendor-quota]]');
  const response = await post(form);
  expect([response.status, (await errorOf(response)).type]).toEqual([429, 'insufficient_quota']);
});

test('the reference has the size of the video, and is an image by its type', async () => {
  await expect(create(png(720, 1280))).rejects.toMatchObject({ status: 400, message: /Inpaint image must match/ });
  await expect(create(Buffer.from('no image'))).rejects.toMatchObject({ status: 400 });
  const code = 'unsupported_file_mimetype';
  await expect(create(png(1280, 720), 'application/octet-stream')).rejects.toMatchObject({ status: 400, code });
  const image_url = `data:image/png;base64,${png(720, 1280).toString('base64')}`;
  expect((await postJson({ input_reference: { image_url } })).status).toBe(200);
  expect((await postJson({ input_reference: { image_url }, size: '1280x720' })).status).toBe(400);
});

test('a broken form and a broken body are refused', async () => {
  for (const type of ['multipart/form-data; boundary=x', 'multipart/form-data', 'application/json']) {
    expect((await post('--x\r\nnothing', { 'content-type': type })).status).toBe(400);
  }
});

test.each([
  ['[[status 503]]', 503, 'server_is_overloaded'],
  ['[[vendor-401]]', 401, 'invalid_api_key'],
  ['[[content-filter]]', 400, 'moderation_blocked'],
])('%s refuses the creation', async (prompt, status, code) => {
  await expect(openai.videos.create({ model: 'sora-2', prompt })).rejects.toMatchObject({ status, code });
});

test('an unknown id is not found', async () => {
  await expect(openai.videos.retrieve('video_123')).rejects.toMatchObject({ status: 404 });
  await expect(openai.videos.downloadContent('cgt-123')).rejects.toMatchObject({ status: 404 });
});
