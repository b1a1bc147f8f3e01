import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import { unlimitedMemory } from '../../../../lambdas/core/limits/request-memory.ts';
import type { FetchImages } from '../../../../lambdas/protocols/images/edit-json.ts';
import { toJsonEditParams } from '../../../../lambdas/protocols/images/request.ts';
import { imageModel } from '../../core/images/image-models.ts';
import { jpeg, png } from '../videos/images.ts';

const model = imageModel('gpt-image-2');
const dataUri = (bytes: Uint8Array) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
const inline = dataUri(png(64, 64));
const url = 'https://images.example/a.png';

/** Images by the part of their URL after the last slash. */
const served: Readonly<Record<string, Buffer>> = {
  'a.png': Buffer.from(png(64, 64)),
  'b.jpg': Buffer.from(jpeg(10, 20)),
};
const fetched: string[] = [];
const fetchImages: FetchImages = async (images) => {
  fetched.push(...images.map(({ url: sent }) => sent));
  return new Map(
    images.map(({ url: sent }) => [sent, served[sent.slice(sent.lastIndexOf('/') + 1)] ?? Buffer.from('')]),
  );
};

const paramsOf = (body: object) => {
  const json = parseJson(JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat', ...body }));
  if (!isJsonObject(json)) throw new Error('no object');
  return toJsonEditParams(json, fetchImages);
};

const ask = async (body: object) => {
  const params = paramsOf(body);
  const asked = params.validateFor(model);
  return params.gather ? params.gather(asked, unlimitedMemory) : asked;
};

const refusalOf = async (body: object): Promise<GatewayError> => {
  try {
    await ask(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('not rejected');
};

test.for<[string, object, string]>([
  [
    'images with image_url',
    { images: [{ image_url: inline }, { image_url: inline, file_id: null }] },
    'images[1].image_url',
  ],
  ['images as strings', { images: [inline, inline] }, 'images[1]'],
  ['image as a list', { image: [inline, inline] }, 'image[1]'],
])('IMG-5 %s are the references of an edit in JSON', async ([, body, param]) => {
  const { references } = await ask(body);
  expect(references[1]).toMatchObject({ kind: 'file', param, file: { width: 64, height: 64 } });
  expect(references).toHaveLength(2);
});

test('IMG-5 image can be one string, and an inline image is not fetched', async () => {
  const params = paramsOf({
    image: inline,
    images: null,
    n: 2,
    stream: false,
    size: null,
    mask: { image_url: inline },
  });
  expect(params.gather).toBeUndefined();
  expect(params.validateFor(model)).toMatchObject({ n: 2, references: [{ param: 'image' }], mask: { width: 64 } });
});

test('IMG-5, CHAT-6 URLs are fetched together and replaced by files in their order', async () => {
  fetched.length = 0;
  const second = 'https://images.example/b.jpg';
  const asked = await ask({ images: [{ image_url: url }, { image_url: inline }, second], mask: url });
  expect(fetched).toEqual([url, second, url]);
  expect(asked.references).toMatchObject([
    { kind: 'file', param: 'images[0].image_url', file: { width: 64 } },
    { kind: 'file', param: 'images[1].image_url' },
    { kind: 'file', param: 'images[2]', file: { mediaType: 'image/jpeg', width: 10 } },
  ]);
  expect([asked.mask?.width, asked.remoteMask]).toEqual([64, undefined]);
});

const format = 'invalid_image_format';
const plain = 'invalid_request_error';

test.for<[object, string, string, string]>([
  [{}, plain, 'images', 'missing'],
  [{ images: [] }, plain, 'images', 'missing'],
  [{ images: [{ file_id: 'file-1' }] }, plain, 'images[0].file_id', 'image_url'],
  [{ images: [inline], mask: { file_id: 'file-1' } }, plain, 'mask.file_id', 'image_url'],
  [{ images: [{}] }, format, 'images[0].image_url', 'data URI'],
  [{ images: [5] }, format, 'images[0]', 'data URI'],
  [{ images: 'iVBORw0KGgo' }, format, 'images', 'data URI'],
  [{ images: [inline], image: inline }, plain, 'image', 'together'],
  [{ images: Array.from({ length: 17 }, () => inline) }, plain, 'images', 'at most 16'],
  [{ images: ['https://images.example/none.png'] }, format, 'images[0]', 'PNG, JPEG or WebP'],
  [{ images: [inline], mask: 'https://images.example/b.jpg' }, format, 'mask', 'must be a PNG'],
  [{ images: [url], mask: dataUri(png(64, 65)) }, format, 'mask', '64x65'],
  [{ images: [inline], n: '2' }, plain, 'n', 'whole number'],
  [{ images: [inline], stream: true }, plain, 'stream', 'not streamed'],
  [{ images: [inline], input_image: inline }, plain, 'input_image', 'not supported'],
])('IMG-5 an edit with %j is rejected', async ([body, code, param, words]) => {
  const error = await refusalOf(body);
  expect([error.code, error.param]).toEqual([code, param]);
  expect(error.message).toContain(words);
});
