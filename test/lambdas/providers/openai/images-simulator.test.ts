import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ImageCall } from '../../../../lambdas/core/images/image-wire.ts';
import { createUpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { readImageForm } from '../../../../lib/local/upstreams/openai/images-form.ts';
import { pictureOf } from '../../../../lib/local/upstreams/picture.ts';
import { type Simulator, startSimulator } from '../../../../lib/local/upstreams/server.ts';
import { errorOf } from '../video-wire-world.ts';
import { imageCall, readAll, referenceTo, wireOver } from './images-world.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const draw = (changes: Partial<ImageCall>) => {
  const { upstream, ...call } = imageCall({ quality: 'low', ...changes });
  const wire = wireOver(createUpstreamHttp(), `${simulator.url}/v1`);
  return wire.draw({ ...call, upstream: { ...upstream, model: 'gpt-image-2' } });
};
const dimensions = { width: 64, height: 48 };
const fileAbout = (about: string) =>
  ({ ...dimensions, mediaType: 'image/png', bytes: pictureOf({ ...dimensions, about }) }) as const;

test('IMG-5 the vendor is sent the files in their order and draws from them', async () => {
  const files = ['three', 'one', 'two'].map(fileAbout);
  const mask = fileAbout('mask');
  const references = files.map((file) => referenceTo(file));
  const { images, usage } = await draw({ n: 2, references, mask, extras: { moderation: 'low' } });
  expect(images).toHaveLength(2);
  expect(usage).toMatchObject({ input: 2, imageInput: 4 * 194, imageOutput: 400 });
  const sent = readImageForm(simulator.requests.at(-1)!)?.files.map(({ bytes }) => Buffer.from(bytes));
  expect(sent).toEqual([...files, mask].map(({ bytes }) => bytes));
});

test('IMG-7 those that were made come, and none at all is an error', async () => {
  expect(await readAll(await draw({ prompt: '[[image-fails 1]]', n: 3 }))).toHaveLength(2);
  expect(await errorOf(draw({ prompt: '[[image-fails]]', n: 3 }))).toMatchObject({ code: 'upstream_error' });
  expect(await errorOf(readAll(await draw({ prompt: '[[image-broken]]' })))).toMatchObject({ code: 'upstream_error' });
  expect(await errorOf(readAll(await draw({ prompt: '[[image-empty]]' })))).toMatchObject({ code: 'upstream_error' });
});

test.for([
  ['[[image-blocked]]', 'content_filter'],
  ['[[content-filter]]', 'content_filter'],
  ['[[vendor-quota]]', 'service_unavailable'],
  ['[[vendor-404]]', 'model_unavailable'],
  ['[[status 429]]', 'upstream_capacity'],
  ['[[context-length]]', 'context_length_exceeded'],
  ['[[garbage]]', 'upstream_error'],
  ['[[reset]]', 'upstream_error'],
  ['[[cut 1]]', 'upstream_error'],
] as const)('ERR-9 %s is %s', async ([prompt, code]) => {
  expect(await errorOf(draw({ prompt }))).toMatchObject({ code });
});
