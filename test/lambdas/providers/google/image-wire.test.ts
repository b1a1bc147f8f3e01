import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import { type ImageCall, ImagesWithheld } from '../../../../lambdas/core/images/image-wire.ts';
import { createGeminiImageWire } from '../../../../lambdas/providers/google/image-wire.ts';
import { data, image, provider, upstream } from '../../core/catalog/sample-data.ts';
import { codeOf } from './stream-reading.ts';
import { playedOptions, sentBody } from './wire-call.ts';

const entry = (size: object) =>
  image({
    upstreams: [upstream({ provider: 'google', model: 'vendor-name', wire: 'gemini_generate_content_image' })],
    image: {
      family: 'compact_gen2',
      size,
      nMax: 1,
      references: { max: 3, fields: ['image'], form: 'file' },
    },
  });

const google = provider({ id: 'google', kind: 'google', credential: { variable: 'K', header: 'X-Goog-Api-Key' } });

const callOf = (
  changes: Partial<ImageCall> = {},
  size: object = { mode: 'tiers', tiers: ['1K', '2K'], maxEdge: 4_096 },
): ImageCall => {
  const catalog = loadCatalog(data([entry(size)], [google, provider({ id: 'spare' })]));
  const model = catalog.entries.find((each): each is ImageModel => each.kind === 'image');
  const [found] = catalog.providers;
  const [first] = model?.upstreams ?? [];
  if (!model || !found || !first) throw new Error('no model');
  return {
    prompt: 'a fox',
    n: 1,
    size: { kind: 'tier', tier: '2K', aspectRatio: '16:9' },
    quality: undefined,
    references: [],
    mask: undefined,
    extras: {},
    endUser: undefined,
    model,
    provider: found,
    upstream: first,
    signal: new AbortController().signal,
    ...changes,
  };
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const inline = (text: string, more: object = {}) => ({
  inlineData: { mimeType: 'image/png', data: base64(text) },
  ...more,
});

const answer = (parts: readonly object[], more: object = {}) =>
  JSON.stringify({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...more }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1_125, thoughtsTokenCount: 20 },
  });

const draw = async (body: string, changes: Partial<ImageCall> = {}, size?: object, status = 200) => {
  const { options, seen } = playedOptions({ body, status });
  const call = callOf(changes, size);
  const drawn = createGeminiImageWire(options).draw(call);
  const outcome = await drawn.catch((error: unknown) => error);
  if (outcome instanceof Error) return { error: outcome, seen, texts: [], drawing: undefined };
  const drawing = await drawn;
  const texts = await Promise.all(drawing.images.map(async ({ read }) => Buffer.from(await read()).toString()));
  return { error: undefined, seen, texts, drawing };
};

const file = (text: string) =>
  ({
    kind: 'file',
    file: { mediaType: 'image/webp', bytes: Buffer.from(text), width: 1, height: 1 },
    param: 'image[0]',
  }) as const;

test('IMG-5 the references precede the prompt, in their order, with the chosen size', async () => {
  const { seen } = await draw(answer([inline('one')]), { references: [file('first'), file('second')] });
  expect(seen.requests[0]?.url).toBe('https://vendor.test/v1beta/models/vendor-name:generateContent');
  expect(sentBody(seen)).toEqual({
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/webp', data: base64('first') } },
          { inlineData: { mimeType: 'image/webp', data: base64('second') } },
          { text: 'a fox' },
        ],
      },
    ],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
    },
  });
});

test.for([
  [{ kind: 'tier', tier: '1K', aspectRatio: undefined }, { mode: 'forbidden', actual: '1K' }, undefined],
  [{ kind: 'tier', tier: '1K', aspectRatio: '1:1' }, { mode: 'forbidden', actual: '1K' }, { aspectRatio: '1:1' }],
  [{ kind: 'tier', tier: '1K', aspectRatio: undefined }, undefined, { imageSize: '1K' }],
  [{ kind: 'vendor', pixelsMax: 100 }, undefined, undefined],
] as const)('IMG-2 a model of one size gets no size: %j', async ([size, rule, imageConfig]) => {
  const { seen } = await draw(answer([inline('one')]), { size }, rule);
  expect(sentBody(seen)).toMatchObject({ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } });
  expect(sentBody(seen)).toHaveProperty('generationConfig', {
    responseModalities: ['TEXT', 'IMAGE'],
    ...(imageConfig && { imageConfig }),
  });
});

test('IMG-1 drafts are dropped, and of several images the last comes first', async () => {
  const parts = [{ text: 'Here' }, inline('draft', { thought: true }), inline('one'), inline('two'), { text: 'Done' }];
  const { texts, drawing } = await draw(answer(parts));
  expect(texts).toEqual(['two', 'one']);
  expect(drawing?.usage).toEqual({
    ...{ input: 10, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 },
    ...{ output: 0, reasoning: 20, imageOutput: 1_125 },
  });
});

test.for([
  ['the prompt', JSON.stringify({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }), 'content_filter'],
  ['the image', answer([], { finishReason: 'IMAGE_SAFETY' }), 'content_filter'],
  ['its similarity', answer([{ text: 'No.' }], { finishReason: 'IMAGE_RECITATION' }), 'content_filter'],
  ['only text', answer([{ text: 'No.' }]), 'upstream_error'],
  ['no image', answer([], { finishReason: 'NO_IMAGE' }), 'upstream_error'],
  ['only a draft', answer([inline('draft', { thought: true })]), 'upstream_error'],
  ['no candidate', JSON.stringify({ usageMetadata: {} }), 'upstream_error'],
  ['an error', JSON.stringify({ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }), 'service_unavailable'],
  ['invalid JSON', '<html>', 'upstream_error'],
] as const)('IMG-7 a response without an image is an error: %s', async ([, body, code]) => {
  expect(codeOf((await draw(body)).error)).toBe(code);
});

test.for([
  ['a blocked image', answer([], { finishReason: 'IMAGE_SAFETY' })],
  ['only text', answer([{ text: 'No.' }])],
] as const)("BILL-21 the error of %s has the provider's counts", async ([, body]) => {
  const { error } = await draw(body);
  if (!(error instanceof ImagesWithheld)) throw new Error('the cost of the call is lost');
  expect(error.usage).toMatchObject({ input: 10, output: 1_125, reasoning: 20 });
});

test('BILL-21 a prompt that the provider rejects without counts has no cost', async () => {
  const { error } = await draw(JSON.stringify({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }));
  expect(error).not.toBeInstanceOf(ImagesWithheld);
});

test('IMG-7 a response of only text is not an image, and the circuit does not count it', async () => {
  const { error } = await draw(answer([{ text: 'No.' }]));
  expect(error).toMatchObject({
    message: 'The model returned no image. Nothing was charged. Retry the request.',
    upstreamFailed: false,
  });
});

test('CHAT-13, GEN-4 a refusal of the provider names the fields of this endpoint', async () => {
  const message = 'The input token count (9) exceeds the maximum number of tokens allowed (8).';
  const refusal = JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
  const { error } = await draw(refusal, {}, undefined, 400);
  expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'prompt' });
});

test('IMG-10 a reference by URL is rejected before anything is sent', () => {
  const { options, seen } = playedOptions({});
  const { model, ...ask } = callOf({ references: [{ kind: 'url', url: 'https://x.test/a.png', param: 'image[0]' }] });
  expect(() => createGeminiImageWire(options).check?.(ask, model)).toThrow(
    expect.objectContaining({ code: 'invalid_request_error', param: 'image[0]' }),
  );
  expect(seen.requests).toEqual([]);
});
