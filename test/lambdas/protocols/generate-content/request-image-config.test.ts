import { expect, test } from 'vitest';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { textModelOf } from '../../../../lambdas/core/catalog/text-model.ts';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { toCountParams } from '../../../../lambdas/protocols/generate-content/request.ts';
import {
  able,
  bodyOf,
  configured,
  inline,
  png,
  prepared,
  preparedBody,
  refusalOf,
  refusedBy,
  saying,
  shippedCatalog,
  snakeBodyOf,
} from './content-requests.ts';

const drawing = (id = 'gemini-nano-banana-2.1'): TextModel => {
  const entry = shippedCatalog.entries.find((each) => each.id === id);
  const model = entry && textModelOf(entry);
  if (!model) throw new Error(`${id} is not a text model`);
  return model;
};

const lite = () => drawing('gemini-3.1-flash-lite-image');

test.for([
  { responseModalities: ['TEXT', 'IMAGE'] },
  { responseModalities: ['image'] },
  { responseModalities: ['TEXT'] },
  { imageConfig: {} },
  { imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
])('CHAT-12, GEM-1 fields of image models pass: %j', (config) => {
  expect(prepared(configured(config), drawing()).body).toMatchObject({ generationConfig: config });
});

test('CHAT-12 imageSize determines the price tier, in camelCase and in snake_case', () => {
  const config = configured({ imageConfig: { imageSize: '4K', aspectRatio: '1:1' } });
  expect(prepared(config, drawing()).imageTier).toBe('4K');
  expect(preparedBody(snakeBodyOf(config), drawing())).toMatchObject({
    imageTier: '4K',
    body: { generationConfig: { imageConfig: { imageSize: '4K', aspectRatio: '1:1' } } },
  });
  expect(prepared(configured({ imageConfig: { aspectRatio: '1:1' } }), drawing()).imageTier).toBeUndefined();
  expect(prepared({}, drawing()).imageTier).toBeUndefined();
});

test.for([
  [{ imageSize: '512' }, 'imageSize', '"1K", "2K", "4K"'],
  [{ imageSize: '4k' }, 'imageSize', '"1K", "2K", "4K"'],
  [{ aspectRatio: '7:1' }, 'aspectRatio', '"16:9"'],
  [{ aspectRatio: 1 }, 'aspectRatio', '"16:9"'],
] as const)('IMG-8, GEN-4 a size without a price gets an error that names it: %j', ([imageConfig, field, said]) => {
  const { code, param, message } = refusalOf(configured({ imageConfig }), drawing());
  expect([code, param]).toEqual(['invalid_request_error', `generationConfig.imageConfig.${field}`]);
  expect(message).toContain(said);
});

test.for(['personGeneration', 'outputMimeType', 'imageOutputOptions'])('GEN-16 imageConfig.%s is listed', (name) => {
  const { body, ignored } = prepared(configured({ imageConfig: { [name]: 'x', imageSize: '1K' } }), drawing());
  expect(body.generationConfig).toEqual({ imageConfig: { imageSize: '1K' } });
  expect(ignored).toEqual([`generationConfig.imageConfig.${name}`]);
});

test('IMG-2 a model of one size accepts only that size', () => {
  expect(prepared(configured({ imageConfig: { imageSize: '1K' } }), lite()).imageTier).toBe('1K');
  const { param, message } = refusalOf(configured({ imageConfig: { imageSize: '2K' } }), lite());
  expect(param).toBe('generationConfig.imageConfig.imageSize');
  expect(message).toContain('must be one of "1K" with "gemini-3.1-flash-lite-image"');
});

test('CHAT-3, GEN-11 an image model accepts no second candidate, tools or JSON', () => {
  expect(refusalOf(configured({ candidateCount: 2 }), drawing())).toMatchObject({
    code: 'unprocessable_entity',
    param: 'generationConfig.candidateCount',
  });
  expect(refusalOf({ tools: [{ functionDeclarations: [{ name: 'f' }] }] }, drawing()).param).toBe('tools');
  expect(refusalOf(configured({ responseMimeType: 'application/json' }), drawing()).param).toBe(
    'generationConfig.responseMimeType',
  );
});

test.for([
  [{ responseModalities: ['TEXT', 'IMAGE'] }, 'responseModalities'],
  [{ imageConfig: {} }, 'imageConfig'],
  [{ imageConfig: { imageSize: '1K' }, responseModalities: ['IMAGE'] }, 'imageConfig'],
] as const)('GEN-11 a model without image output accepts none of it: %j', ([config, field]) => {
  const { code, param, message } = refusalOf(configured(config), able);
  expect([code, param]).toEqual(['invalid_request_error', `generationConfig.${field}`]);
  expect(message).toContain(' Others.');
});

test.for([['AUDIO'], ['TEXT', 'IMAGE', 'TEXT'], 'IMAGE'].map((responseModalities) => ({ responseModalities })))(
  'GEN-9 other modalities are rejected on any model: %j',
  (config) => {
    expect(refusalOf(configured(config), drawing()).param).toMatch(/^generationConfig\.responseModalities/);
  },
);

test('BILL-17 a whole request whose tokens are counted has the checks of a generation', () => {
  const json = bodyOf({});
  const whole = (generationConfig: object) =>
    toCountParams(
      {
        modelId: drawing().id,
        json: { generateContentRequest: { ...json, generationConfig: bodyOf(generationConfig).generationConfig } },
      },
      () => '',
    );
  const config = configured({ imageConfig: { imageSize: '1K' } });
  expect(whole(config).validateFor(drawing()).body).toMatchObject({ generateContentRequest: config });
  expect(refusedBy(() => whole(config).validateFor(able)).param).toBe(
    'generateContentRequest.generationConfig.imageConfig',
  );
});

test('BILL-5 the hold for an image assumes the highest resolution of a part', () => {
  const inlined = { ...inline('image/png', png), mediaResolution: { level: 'MEDIA_RESOLUTION_ULTRA_HIGH' } };
  for (const model of [drawing(), lite(), drawing('gemini-3-pro-image')]) {
    expect(promptTokensAtMost(model, prepared(saying(inlined), model))).toBeGreaterThan(2_240);
  }
});
