import { expect, test } from 'vitest';
import { toGenerationParams } from '../../../../lambdas/protocols/images/request.ts';
import { imageModel, imageModels, refusalOf } from '../../core/images/image-models.ts';
import { png } from '../videos/images.ts';
import { generation, generationOrder, PROMPT } from './image-requests.ts';

const URL_ONE = 'https://a.example/one.png';
const URL_TWO = 'http://a.example/two.jpg?x=1#y';
const inline = (bytes: Uint8Array, type = 'image/png') =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
const picture = inline(png(64, 32));

/** Valid requests for each model family, with the checked part of the result. */
const accepted: readonly (readonly [model: string, body: object, expected: object])[] = [
  ['gpt-image-2', {}, { prompt: PROMPT, n: 1, quality: undefined, references: [], extras: {}, endUser: undefined }],
  ['gpt-image-2', { n: 10, quality: 'high', size: '1024x1536' }, { n: 10, quality: 'high', size: { height: 1536 } }],
  ['gpt-image-2', { quality: 'auto', n: null, size: null, user: null, stream: null }, { n: 1, quality: undefined }],
  ['gpt-image-2', { size: '1024x1024', negative_prompt: null, style: null }, { n: 1 }],
  ['gpt-image-2', { stream: false, user: 'end-user-1' }, { endUser: 'end-user-1', extras: {} }],
  [
    'gpt-image-2',
    { background: 'transparent', output_compression: 50, moderation: null, output_format: 'webp' },
    { extras: { background: 'transparent', output_compression: 50, output_format: 'webp' } },
  ],
  ['gpt-image-2.6-sunburst', { quality: 'low' }, { quality: 'low' }],
  ['gpt-image-2.6-flare', { quality: 'medium' }, { quality: 'medium' }],
  ['gpt-image-1-mini', { size: '1024x1024', quality: 'low' }, { quality: 'low', size: { width: 1024 } }],
  ['gpt-image-2-fixed', {}, { quality: 'low', size: { tier: '1K' } }],
  ['gpt-image-2-fixed', { size: '2048x864' }, { quality: 'medium', size: { tier: '2K' } }],
  ['gpt-image-2-fixed', { size: '3840x2880', n: 2 }, { n: 2, quality: 'high', size: { tier: '4K', width: 3264 } }],
  ['gpt-image-2-prompt', { size: '4K' }, { quality: 'low', size: { kind: 'vendor' } }],
  ['gemini-nano-banana-2.1', { size: '4K' }, { quality: undefined, size: { kind: 'tier', tier: '4K' } }],
  ['gemini-3-pro-image', { n: 1 }, { n: 1, size: { tier: '1K' } }],
  ['gemini-3.1-flash-lite-image', {}, { quality: undefined, size: { tier: '1K' } }],
  ['gemini-2.5-flash-image', {}, { size: { tier: '1K' } }],
  ['seedream-4-0', { sequential_image_generation: 'disabled' }, { extras: {}, references: [] }],
  [
    'seedream-4-0',
    { image: [URL_ONE, URL_TWO] },
    {
      references: [
        { kind: 'url', url: URL_ONE, param: 'image[0]' },
        { kind: 'url', url: URL_TWO, param: 'image[1]' },
      ],
    },
  ],
  ['seedream-4-5', { image: URL_ONE }, { references: [{ kind: 'url', url: URL_ONE, param: 'image' }] }],
  ['seedream-5-0-lite', { image: null, input_image: null }, { references: [] }],
  ['seedream-5-5', { size: '2K', image: Array.from({ length: 10 }, () => URL_ONE) }, { size: { tier: '2K' } }],
  ['flux-2-pro', { width: 512, height: 768 }, { size: { width: 512, height: 768 } }],
  [
    'flux-2-max',
    { input_image_8: URL_TWO, input_image: picture, input_image_3: URL_ONE },
    {
      size: { kind: 'vendor' },
      references: [
        { kind: 'file', param: 'input_image', file: { mediaType: 'image/png', width: 64, height: 32 } },
        { kind: 'url', param: 'input_image_3', url: URL_ONE },
        { kind: 'url', param: 'input_image_8', url: URL_TWO },
      ],
    },
  ],
  [
    'flux-2-flex',
    { input_image_2: inline(png(9, 9), 'image/jpeg') },
    { references: [{ file: { mediaType: 'image/png' } }] },
  ],
  ['flux-2-klein-9b', { aspect_ratio: '16:9', seed: 7 }, { size: { width: 1280, height: 720 }, extras: { seed: 7 } }],
];

test.for(accepted)('IMG-1 %s accepts %o', ([model, body, expected]) => {
  expect(generation(model, body)).toMatchObject(expected);
});

test('IMG-1 the rows above cover every image model of the catalog', () => {
  const asked = new Set(accepted.map(([model]) => model));
  expect(imageModels.filter(({ id }) => !asked.has(id))).toEqual([]);
});

test('IMG-1 the model decides about the form of images without a response_format', () => {
  const plain = generationOrder({ model: 'm' });
  expect(plain).toMatchObject({ protocol: 'images_generations', modelId: 'm', format: undefined, endUser: undefined });
  expect(generationOrder({ model: 'm', response_format: null }).format).toBeUndefined();
  expect(generationOrder({ model: 'm', response_format: 'b64_json', user: 'u' })).toMatchObject({
    format: 'b64_json',
    endUser: 'u',
  });
});

const refusedEarly: readonly (readonly [body: object, param: string, words: string])[] = [
  [{ model: undefined }, 'model', 'the id of a model'],
  [{ prompt: ' \n' }, 'prompt', 'describes the image'],
  [{ prompt: ['a cat'] }, 'prompt', 'describes the image'],
  [{ prompt: 'a \ud83d cat' }, 'prompt', 'half of a character'],
  [{ n: 0 }, 'n', 'at least 1'],
  [{ n: 1.5 }, 'n', 'whole number'],
  [{ size: 1024 }, 'size', 'a string such as "1024x1024"'],
  [{ quality: 1 }, 'quality', 'a string'],
  [{ response_format: 'png' }, 'response_format', '"url", "b64_json"'],
  [{ user: 'u'.repeat(257) }, 'user', '256'],
  [{ width: '1024', height: 1024 }, 'width', 'whole number of pixels'],
  [{ width: 1024, height: 0.5 }, 'height', 'whole number of pixels'],
  [{ aspect_ratio: 1.5 }, 'aspect_ratio', 'such as "16:9"'],
  [{ sequential_image_generation: false }, 'sequential_image_generation', '"disabled"'],
  [{ stream: true }, 'stream', 'not streamed here'],
  [{ partial_images: 0 }, 'partial_images', 'not streamed here'],
];

test.for(refusedEarly)('ERR-8 %o is rejected for every model', ([body, param, words]) => {
  const refusal = refusalOf(() => generationOrder({ model: 'flux-2-pro', ...body }));
  expect(refusal).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(refusal.message).toContain(words);
  expect(refusal.message.startsWith(`${param}: `)).toBe(true);
});

const refused: readonly (readonly [rule: string, model: string, body: object, param: string, words: string])[] = [
  ['IMG-7', 'gpt-image-2', { n: 11 }, 'n', 'at most 10'],
  ['IMG-3', 'gpt-image-2', { quality: 'xhigh' }, 'quality', '"auto", "low", "medium", "high"'],
  ['IMG-3', 'gpt-image-2-fixed', { quality: 'high' }, 'quality', 'follows from size'],
  ['IMG-3', 'gpt-image-2-prompt', { quality: 'low' }, 'quality', 'Remove it'],
  ['IMG-3', 'seedream-4-0', { quality: 'auto' }, 'quality', 'Remove it'],
  ['IMG-2', 'flux-2-pro', { size: '512x512', width: 512, height: 512 }, 'size', 'combined with width and height'],
  ['IMG-2', 'gpt-image-2', { width: 1024 }, 'width', 'Use size'],
  ['IMG-4', 'gpt-image-2', { aspect_ratio: '1:1' }, 'aspect_ratio', 'Use size'],
  ['IMG-4', 'gpt-image-2', { image: URL_ONE }, 'image', '/v1/images/edits'],
  ['IMG-4', 'gemini-3-pro-image', { input_image: URL_ONE }, 'input_image', '/v1/images/edits'],
  ['IMG-5', 'gpt-image-2', { mask: picture }, 'mask', '/v1/images/edits'],
  ['IMG-5', 'gpt-image-2-fixed', { mask: picture }, 'mask', 'not supported'],
  ['IMG-4', 'seedream-4-0', { input_image: URL_ONE }, 'input_image', 'an array of URLs in the field image'],
  ['IMG-4', 'flux-2-pro', { image: [URL_ONE] }, 'image', 'input_image to input_image_8'],
  ['IMG-10', 'flux-2-pro', { input_image_9: URL_ONE }, 'input_image_9', 'input_image to input_image_8'],
  ['IMG-4', 'seedream-4-0', { image: [] }, 'image', 'to 14 URLs'],
  ['IMG-4', 'seedream-4-0', { sequential_image_generation: 'auto' }, 'sequential_image_generation', '"disabled"'],
  ['IMG-4', 'flux-2-pro', { sequential_image_generation: 'disabled' }, 'sequential_image_generation', 'not supported'],
  ['GEN-9', 'gpt-image-2', { style: 'vivid' }, 'style', 'background, moderation'],
  ['GEN-9', 'flux-2-pro', { webhook_url: URL_ONE }, 'webhook_url', 'seed, output_format'],
  ['GEN-9', 'gemini-3-pro-image', { output_format: 'png' }, 'output_format', 'not supported'],
  ['GEN-9', 'seedream-4-0', { sequential_image_generation_options: {} }, 'sequential_image_generation_options', 'not'],
  ['GEN-9', 'gpt-image-2', { background: 'x'.repeat(65) }, 'background', '64 characters'],
  ['GEN-9', 'gpt-image-2', { moderation: false }, 'moderation', 'must be a string'],
  ['GEN-9', 'gpt-image-2', { background: '\udc00' }, 'background', '64 characters'],
  ['GEN-9', 'gpt-image-2', { output_format: 'gif' }, 'output_format', '"png", "jpeg", "webp"'],
  ['GEN-9', 'gpt-image-2', { ['x'.repeat(500)]: 1 }, `${'x'.repeat(100)}…`, 'not supported'],
  ['IMG-1', 'gpt-image-2', { prompt: 'é'.repeat(32_001) }, 'prompt', 'at most 32000 characters'],
];

test.for(refused)('%s %s rejects %o', ([, model, body, param, words]) => {
  const refusal = refusalOf(() => generation(model, body));
  expect(refusal).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(refusal.message).toContain(words);
  expect(refusal.message.startsWith(`${param}: `)).toBe(true);
});

test('IMG-10 the catalog entry limits the number of reference images', () => {
  for (const model of imageModels.filter(({ image }) => image.references.form !== 'file')) {
    const { max, fields, form } = model.image.references;
    const urls = (count: number) => Array.from({ length: count }, () => URL_ONE);
    const bodyOf = (count: number): object =>
      form === 'public_url'
        ? { image: urls(count) }
        : Object.fromEntries(urls(count).map((url, at) => [at === 0 ? 'input_image' : `input_image_${at + 1}`, url]));
    expect(fields.length === 1 || fields.length === max).toBe(true);
    expect(generation(model.id, bodyOf(max)).references).toHaveLength(max);
    const excess = form === 'public_url' ? `image[${max}]` : `input_image_${max + 1}`;
    expect(refusalOf(() => generation(model.id, bodyOf(max + 1)))).toMatchObject({ status: 400, param: excess });
  }
});

test('IMG-10 the limit of images also applies to an entry with more fields than that', () => {
  const klein = imageModel('flux-2-klein-9b');
  const model = { ...klein, image: { ...klein.image, references: { ...klein.image.references, max: 1 } } };
  const order = generationOrder({ model: 'm', input_image_4: URL_ONE, input_image_2: URL_ONE });
  expect(refusalOf(() => order.validateFor(model))).toMatchObject({ status: 400, param: 'input_image_4' });
});

test('IMG-1 a prompt is measured in characters, however many bytes they have', () => {
  expect(generation('gpt-image-2', { prompt: '🦊'.repeat(32_000) }).prompt).toHaveLength(64_000);
  expect(refusalOf(() => generation('gpt-image-2', { prompt: '🦊'.repeat(32_001) })).param).toBe('prompt');
});

test('IMG-7 more than one image is 422 if the provider generates one per request', () => {
  const single = imageModels.filter(({ image }) => image.nMax === 1);
  expect(single.length).toBeGreaterThan(10);
  for (const { id } of single) {
    expect(refusalOf(() => generation(id, { n: 2 }))).toMatchObject({
      code: 'unprocessable_entity',
      status: 422,
      param: 'n',
    });
  }
});

test('GEN-9 a field named like a built-in member is rejected like any unsupported field', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const order = toGenerationParams(JSON.parse(`{"model":"m","prompt":"p","${name}":1}`));
    expect(refusalOf(() => order.validateFor(imageModel('gpt-image-2')))).toMatchObject({ param: name, status: 400 });
  }
});
