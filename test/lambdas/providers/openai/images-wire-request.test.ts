import { expect, test } from 'vitest';
import { imagesResponse } from '../../../fixtures/openai/images.ts';
import { errorOf } from '../video-wire-world.ts';
import { CANARY, imageCall, imageFile, imageWorld, referenceTo, wireOver } from './images-world.ts';

const play = async (changes: Parameters<typeof imageCall>[0]) => {
  const world = imageWorld({ body: imagesResponse });
  await world.draw(changes);
  const [request] = world.requests;
  if (!request || world.requests.length > 1) throw new Error(`${world.requests.length} requests`);
  return request;
};

const pixels = (width: number, height: number) =>
  ({ kind: 'pixels', width, height, asked: '5120x4096', tier: undefined }) as const;

test('IMG-1 a generation is one JSON request with only the requested fields', async () => {
  const request = await play({ size: pixels(1_536, 864) });
  expect(request).toMatchObject({
    method: 'POST',
    url: 'https://vendor.test/v1/images/generations',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${CANARY}` },
  });
  expect(request.bytes).toBeUndefined();
  expect(JSON.parse(request.body)).toEqual({ model: 'vendor-name', prompt: 'A cat', size: '1536x864' });
});

test('IMG-3 and GEN-9 quality, number, end user and extra fields are sent if present', async () => {
  const extras = { background: 'transparent', output_compression: 80, output_format: 'webp' };
  const { body } = await play({ n: 10, quality: 'medium', endUser: 'user-1', extras });
  const fields = { n: 10, size: 'auto', quality: 'medium', user: 'user-1', ...extras };
  expect(JSON.parse(body)).toEqual({ model: 'vendor-name', prompt: 'A cat', ...fields });
});

test('GEN-9 an extra field does not replace a checked one', async () => {
  const { body } = await play({ extras: { model: 'dear', prompt: 'x', n: 9, size: '3840x2160', quality: 'high' } });
  expect(JSON.parse(body)).toEqual({ model: 'vendor-name', prompt: 'A cat', size: 'auto' });
});

test('IMG-9 the provider gets a size that it supports, not the requested one', async () => {
  const { body } = await play({ size: pixels(3_200, 2_560) });
  expect(JSON.parse(body).size).toBe('3200x2560');
});

const files = [
  imageFile('one \u0000\r\n--x'),
  imageFile('two', 'image/jpeg'),
  imageFile('three', 'image/webp'),
  imageFile('one \u0000\r\n--x'),
];
const references = files.map((file) => referenceTo(file));

test('IMG-5 an edit is a form: the fields, the files in their order, the mask', async () => {
  const prompt = 'Replace "A"; name="mask"\r\n\r\n--x é\u0000';
  const mask = imageFile('mask');
  const { url, body, bytes, headers, method } = await play({
    prompt,
    n: 2,
    size: pixels(1_024, 1_536),
    quality: 'high',
    endUser: 'user-1',
    extras: { moderation: 'low', output_compression: 100 },
    references,
    mask,
  });
  expect([method, url, body]).toEqual(['POST', 'https://vendor.test/v1/images/edits', '']);
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes ?? []), { headers: { 'content-type': type } }).formData();
  const parts = [...form].map(([name, value]) =>
    value instanceof File ? [name, value.name, value.type] : [name, value],
  );
  expect(Object.fromEntries(parts.filter(({ length }) => length === 2))).toEqual({
    model: 'vendor-name',
    prompt,
    n: '2',
    size: '1024x1536',
    quality: 'high',
    user: 'user-1',
    moderation: 'low',
    output_compression: '100',
  });
  expect(parts.filter(({ length }) => length === 3)).toEqual([
    ['image[]', 'image-1.png', 'image/png'],
    ['image[]', 'image-2.jpeg', 'image/jpeg'],
    ['image[]', 'image-3.webp', 'image/webp'],
    ['image[]', 'image-4.png', 'image/png'],
    ['mask', 'mask.png', 'image/png'],
  ]);
  const sent = [...form.values()].filter((value) => value instanceof File);
  expect(await Promise.all(sent.map((file) => file.bytes()))).toEqual(
    [...files, mask].map((file) => Uint8Array.from(file.bytes)),
  );
});

test.for(['png', 'jpeg', 'webp', undefined])('GEN-9 an output format of %s is accepted', (format) => {
  const wire = wireOver(() => Promise.reject(new Error('unexpected request')), '');
  const call = imageCall({ references, extras: { output_format: format } });
  expect(wire.check?.(call, call.model)).toBeUndefined();
});

test.for(['gif', 'svg', 'PNG', '', true])('GEN-9 an output format of %s is rejected', async (format) => {
  const wire = wireOver(() => Promise.reject(new Error('unexpected request')), '');
  const call = imageCall({ extras: { output_format: format } });
  const error = await errorOf((async () => wire.check?.(call, call.model))());
  expect(error).toMatchObject({ code: 'invalid_request_error', param: 'output_format' });
});

test('IMG-4 an image by URL is rejected, never dropped', async () => {
  const url = { kind: 'url', url: 'https://images.test/a.png', param: 'image[1]' } as const;
  const world = imageWorld({ body: imagesResponse });
  const call = imageCall({ references: [...references, url] });
  const refusal = { code: 'invalid_image_format', param: 'image[1]' };
  const wire = wireOver(() => Promise.reject(new Error('unexpected request')), '');
  expect(await errorOf((async () => wire.check?.(call, call.model))())).toMatchObject(refusal);
  expect(await errorOf(world.draw(call))).toMatchObject(refusal);
  expect(world.requests).toEqual([]);
});
