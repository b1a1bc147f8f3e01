import { describe, expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Model } from '../../../../lambdas/core/catalog/schema.ts';
import { textModelOf } from '../../../../lambdas/core/catalog/text-model.ts';
import { at, data, image, limits, problemsOf, provider, upstream } from './sample-data.ts';

const shipped = loadCatalog(catalogData);

const shippedModel = (id: string): Model => {
  const model = shipped.find(id, at('2026-11-20'));
  if (!model) throw new Error(`there is no ${id}`);
  return model;
};

const google = provider({ id: 'google', kind: 'google' });
const dataOf = (...models: readonly unknown[]) => data(models, [provider(), google]);
const load = (models: readonly unknown[]) => loadCatalog(dataOf(...models));
const fieldsOf = (entry: unknown) => problemsOf(dataOf(entry)).map(({ id, field }) => `${id}  ${field}`);

const perToken = {
  unit: '1M_tokens',
  rates: { textInput: '2', textOutput: '12', imageOutput: '120' },
  imageTokensByTier: { '1K': 1_120, '4K': 2_000 },
};
const called = (changes: Readonly<Record<string, unknown>> = {}) =>
  image({
    protocols: ['images_generations', 'chat_completions', 'generate_content'],
    upstreams: [upstream({ provider: 'google', wire: 'gemini_generate_content_image' })],
    text: { limits, streaming: true, imageTokensMax: { low: 1, high: 2, auto: 3, original: 4 } },
    prices: [perToken],
    ...changes,
  });

describe('CHAT-12 image models that text protocols can call', () => {
  test('CHAT-12 the catalog has three image models that text formats can call', () => {
    const seen = shipped.entries.flatMap((model) =>
      model.kind === 'image' && model.enabled && textModelOf(model) ? [model.id] : [],
    );
    expect(seen).toEqual(['gemini-nano-banana-2.1', 'gemini-3-pro-image', 'gemini-3.1-flash-lite-image']);
  });

  test('CHAT-12 a text model is returned unchanged, and a model of another kind yields undefined', () => {
    const model = shippedModel('gpt-6-luna');
    expect(textModelOf(model)).toBe(model);
    expect(textModelOf(shippedModel('tts-1'))).toBeUndefined();
    expect(textModelOf(shippedModel('gpt-image-2'))).toBeUndefined();
  });

  test('GEN-11 a capability that the entry does not state is absent', () => {
    const model = textModelOf(shippedModel('gemini-3-pro-image'));
    expect(model).toMatchObject({
      kind: 'text',
      protocols: ['chat_completions', 'generate_content'],
      reasoning: null,
      limits: { contextTokens: 65_536 },
      capabilities: { tools: false, jsonSchema: false, vision: true, streaming: true, multipleChoices: false },
      imageTiers: ['1K', '2K', '4K'],
    });
  });

  test('IMG-2 a model with one size tier has only that tier', () => {
    expect(textModelOf(shippedModel('gemini-3.1-flash-lite-image'))?.imageTiers).toEqual(['1K']);
    const [model] = load([called()]).entries;
    expect(model && textModelOf(model)?.imageTiers).toEqual([]);
  });

  test('BILL-3 text tokens have the prices of the entry, and image tokens their own price', () => {
    expect(textModelOf(shippedModel('gemini-3-pro-image'))?.prices).toMatchObject([
      {
        unit: '1M_tokens',
        rates: { input: 2_000_000n, output: 12_000_000n, imageOutput: 120_000_000n },
        tiers: [],
        imageTokensByTier: { '1K': 1_120, '2K': 1_120, '4K': 2_000 },
      },
    ]);
  });

  test('IMG-8 text output without its own price costs as much as image output', () => {
    const rates = { textInput: '2', imageOutput: '120' };
    const [model] = load([called({ prices: [{ ...perToken, rates }] })]).entries;
    expect(model && textModelOf(model)?.prices[0]?.rates).toMatchObject({ output: 120_000_000n });
  });

  test('BILL-3 dated prices keep their dates', () => {
    const prices = [
      { ...perToken, until: '2026-11-30' },
      { ...perToken, from: '2026-12-01' },
    ];
    const [model] = load([called({ prices })]).entries;
    expect(model && textModelOf(model)?.prices).toMatchObject([{ until: '2026-11-30' }, { from: '2026-12-01' }]);
  });
});

describe('CAT-5 contradictory entries', () => {
  test.for([
    ['a text protocol without `text` fails', called({ text: undefined }), ['paint-1  text']],
    ['`text` without a text protocol fails', called({ protocols: ['images_generations'] }), ['paint-1  text']],
    [
      'a protocol without a matching upstream fails',
      called({ upstreams: [upstream({ wire: 'openai_images' })] }),
      ['paint-1  protocols'],
    ],
    [
      'a price per image instead of per token fails',
      called({ prices: [{ unit: 'image', rates: { perImage: '1' } }] }),
      ['paint-1  prices'],
    ],
    [
      'a price without the tokens per image fails',
      called({ prices: [{ ...perToken, imageTokensByTier: undefined }] }),
      ['paint-1  prices'],
    ],
  ] as const)('CHAT-12 %s', ([, entry, fields]) => {
    expect(fieldsOf(entry)).toEqual(fields);
  });
});
