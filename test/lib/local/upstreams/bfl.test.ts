import { imageSize } from 'image-size';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { pictureOf } from '../../../../lib/local/upstreams/picture.ts';
import { type Simulator, startSimulator } from '../../../../lib/local/upstreams/server.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(() => {
  simulator.reset();
  vi.useRealTimers();
});
afterAll(() => simulator.stop());

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

/** The file of a job that is ready at once. */
const made = async (markers = '', more: object = {}) => {
  const { polling_url } = await begin(`a sea [[takes 0]] ${markers}`, more);
  const { status, result } = await poll(polling_url);
  expect(status).toBe('Ready');
  const response = await fetch(result?.sample ?? '');
  return { url: result?.sample ?? '', response, bytes: await response.arrayBuffer().then(Buffer.from) };
};

test('IMG-1 a job waits, and has then a picture of exactly the size asked for', async () => {
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
});

test('BILL-3 the megapixels of the image and of what it was drawn from', async () => {
  const file = pictureOf({ width: 1_000, height: 500, about: 'x' }).toString('base64');
  const more = { width: 2_048, height: 2_048, input_image: 'https://example.com/a.png', input_image_2: file };
  expect(await begin('x', more)).toMatchObject({ input_mp: 1.5, output_mp: 4.19, cost: 3 + 1.5 * 4.69 });
  expect(await begin('x', { width: undefined, height: undefined })).toMatchObject({ input_mp: 0, output_mp: 1.05 });
  const untold = await begin('x [[no-usage]]');
  expect([untold.input_mp, untold.output_mp]).toEqual([undefined, undefined]);
});

test('ERR-5 the file asks for no key and refuses one', async () => {
  const { url } = await made();
  expect((await fetch(url, { headers: key })).status).toBe(400);
});

test('[[image-bytes n]], [[image-empty]], [[image-html]] and [[image-missing]] are files', async () => {
  expect((await made('[[image-bytes 70000]]')).bytes).toHaveLength(70_000);
  expect((await made('[[image-empty]]')).bytes).toHaveLength(0);
  expect((await made('[[image-html]]')).response.headers.get('content-type')).toBe('text/html');
  expect((await made('[[image-missing]]')).response.status).toBe(404);
});

test('[[image-broken]] breaks off in the middle', async () => {
  await expect(made('[[image-broken]]')).rejects.toThrow();
});

test.for([
  ['[[image-fails]]', 'Failed'],
  ['[[image-blocked]]', 'Content Moderated'],
  ['[[content-filter]]', 'Request Moderated'],
  ['[[video-unknown]]', 'Reviewing'],
] as const)('%s ends as "%s"', async ([marker, status]) => {
  const { polling_url } = await begin(`x [[takes 0]] ${marker}`);
  expect(await poll(polling_url)).toMatchObject({ status, result: null });
});

test('[[video-poll-error n]] fails the looks, and not the job', async () => {
  const { polling_url } = await begin('x [[takes 0]] [[video-poll-error 60000]]');
  expect((await fetch(polling_url, { headers: key })).status).toBe(500);
});

test.for(['', '?id=', '?id=nobody'])('ERR-9 a job of that name is not known: "%s"', async (query) => {
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
  [{ size: '512x512' }, 'size'],
  [{ aspect_ratio: '1:1' }, 'aspect_ratio'],
  [{ n: 1 }, 'n'],
  [{ safety_tolerance: 6 }, 'safety_tolerance'],
  [{ output_format: 'gif' }, 'output_format'],
  [{ seed: 'x' }, 'seed'],
  [{ input_image: 'ftp://example.com/a.png' }, 'input_image'],
  [{ input_image_8: 7 }, 'input_image_8'],
  [{ input_image_9: png }, 'input_image_9'],
] as const)('ERR-9 the vendor refuses %j', async ([more, field]) => {
  const response = await ask('x', more);
  expect(response.status).toBe(422);
  const { detail } = z
    .object({ detail: z.array(z.looseObject({ loc: z.array(z.string()) })) })
    .parse(await response.json());
  expect(detail[0]?.loc).toEqual(['body', field]);
});

test('IMG-10 eight references, by URL, as base64 or as a data URI; the smallest models take four', async () => {
  const images = { input_image: png, input_image_4: `data:image/png;base64,${png}` };
  expect((await ask('x', { ...images, input_image_8: 'https://example.com/a' })).status).toBe(200);
  const small = { model: 'flux-2-klein-9b' };
  expect((await ask('x', images, small)).status).toBe(200);
  expect((await ask('x', { input_image_5: png }, small)).status).toBe(422);
});

test.for([
  ['', {}, 403, 'Not authenticated - Invalid Authentication'],
  ['[[vendor-401]]', key, 403, 'Not authenticated - Invalid Authentication'],
  ['[[vendor-quota]]', key, 402, 'Insufficient credits'],
  ['[[vendor-404]]', key, 404, 'Not Found'],
  ['[[status 500]]', key, 500, 'Internal Server Error'],
] as const)('ERR-3 %s with %j is %i', async ([marker, headers, status, detail]) => {
  const response = await ask(`x ${marker}`, {}, { headers });
  expect([response.status, await response.json()]).toEqual([status, { detail }]);
});

test('[[status 429 retry-after 7]] says when', async () => {
  const response = await ask('x [[status 429 retry-after 7]]');
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
});

test('ERR-9 a model that does not exist is a 404', async () => {
  expect((await ask('x', {}, { model: 'flux-9' })).status).toBe(404);
});
