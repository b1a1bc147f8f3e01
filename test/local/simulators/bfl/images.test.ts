import { imageSize } from 'image-size';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { pictureOf } from '../../../../local/simulators/picture.ts';
import { startSimulated } from '../simulated.ts';

const { simulator } = await startSimulated();

const key = { 'x-key': 'bfl-test' };

const ask = (
  prompt: string,
  more: object = {},
  { model = 'flux-2-pro', headers = key }: { readonly model?: string; readonly headers?: object } = {},
) =>
  fetch(`${simulator.url}/v1/${model}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ prompt, width: 512, height: 256, ...more }),
  });

const createdSchema = z.strictObject({
  id: z.string(),
  polling_url: z.url(),
  cost: z.number(),
  input_mp: z.number().optional(),
  output_mp: z.number().optional(),
});
const resultSchema = z.looseObject({
  status: z.string(),
  result: z.looseObject({ sample: z.url() }).nullable(),
});

const begin = async (prompt: string, more: object = {}, options = {}) =>
  createdSchema.parse(await (await ask(prompt, more, options)).json());

const poll = async (url: string) => resultSchema.parse(await (await fetch(url, { headers: key })).json());

test('IMG-1 ERR-5 a job waits, then links to an image of its size, and the link rejects a key', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const job = await begin('a sea [[takes 5000]]');
  expect(new URL(job.polling_url).origin).toBe(simulator.url);
  expect(await poll(job.polling_url)).toMatchObject({ id: job.id, status: 'Pending', result: null });
  vi.setSystemTime(Date.now() + 4_999);
  expect((await poll(job.polling_url)).status).toBe('Pending');
  vi.setSystemTime(Date.now() + 1);
  const { status, result } = await poll(job.polling_url);
  expect(status).toBe('Ready');
  const bytes = Buffer.from(await (await fetch(result?.sample ?? '')).arrayBuffer());
  expect(imageSize(bytes)).toMatchObject({ type: 'png', width: 512, height: 256 });
  expect((await fetch(result?.sample ?? '', { headers: key })).status).toBe(400);
});

test('BILL-3 the megapixels of the image and of its references are reported', async () => {
  const file = pictureOf({ width: 1_000, height: 500, about: 'x' }).toString('base64');
  const more = { width: 2_048, height: 2_048, input_image: 'https://example.com/a.png', input_image_2: file };
  expect(await begin('x', more)).toMatchObject({ input_mp: 1.5, output_mp: 4.19, cost: 3 + 1.5 * 4.69 });
  expect(await begin('x', { width: undefined, height: undefined })).toMatchObject({ input_mp: 0, output_mp: 1.05 });
  const untold = await begin('x [[no-usage]]');
  expect([untold.input_mp, untold.output_mp]).toEqual([undefined, undefined]);
});

test.for(['', '?id=', '?id=unknown'])('ERR-9 a poll without a known job id gets 404: "%s"', async (query) => {
  const response = await fetch(`${simulator.url}/v1/get_result${query}`, { headers: key });
  expect(response.status).toBe(404);
  expect(resultSchema.parse(await response.json()).status).toBe('Task not found');
});

const png = pictureOf({ width: 8, height: 8, about: 'x' }).toString('base64');

test.for([
  [{ prompt: undefined }, 'prompt'],
  [{ prompt: 7 }, 'prompt'],
  [{ width: 520 }, 'width'],
  [{ height: 48 }, 'height'],
  [{ width: 2_064, height: 2_048 }, 'width'],
  [{ safety_tolerance: 6 }, 'safety_tolerance'],
  [{ output_format: 'gif' }, 'output_format'],
  [{ seed: 'x' }, 'seed'],
  [{ input_image: 'ftp://example.com/a.png' }, 'input_image'],
  [{ input_image_8: 7 }, 'input_image_8'],
] as const)('ERR-9 an invalid field is rejected: %j', async ([more, field]) => {
  const response = await ask('x', more);
  expect(response.status).toBe(422);
  const { detail } = z
    .object({ detail: z.array(z.looseObject({ loc: z.array(z.string()) })) })
    .parse(await response.json());
  expect(detail[0]?.loc).toEqual(['body', field]);
});

test('ERR-9 unknown fields are ignored', async () => {
  expect((await ask('x', { size: '512x512', n: 1, input_image_9: png })).status).toBe(200);
});

test('IMG-10 references can be URLs, base64 or data URIs: eight, or four for the smallest models', async () => {
  const images = { input_image: png, input_image_4: `data:image/png;base64,${png}` };
  expect((await ask('x', { ...images, input_image_8: 'https://example.com/a' })).status).toBe(200);
  const small = { model: 'flux-2-klein-9b' };
  expect((await ask('x', images, small)).status).toBe(200);
  expect((await ask('x', { input_image_5: png }, small)).status).toBe(422);
});

test('ERR-3 a request without a key gets 403', async () => {
  const response = await ask('x', {}, { headers: {} });
  expect([response.status, await response.json()]).toEqual([
    403,
    { detail: 'Not authenticated - Invalid Authentication' },
  ]);
});

test('ERR-9 an unknown model gets 404', async () => {
  expect((await ask('x', {}, { model: 'flux-9' })).status).toBe(404);
});
