import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../../../catalog/index.ts';
import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { textModelOf } from '../../../../lambdas/core/catalog/text-model.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import { chargeFor } from '../../../../lambdas/core/pricing/text-price.ts';
import { createGetModel, createListModels } from '../../../../lambdas/protocols/models/handlers.ts';
import { toOpenAiModel } from '../../../../lambdas/protocols/models/shapes.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { catalog, NOW, serveModels } from './models-service.ts';

const runs = randomRuns(import.meta.filename, { quick: 20, long: 2_000 });

const usd = z.string().regex(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
const price = {
  prompt: usd,
  completion: usd,
  input_cache_read: usd.optional(),
  input_cache_write: usd.optional(),
  input_cache_write_1h: usd.optional(),
  audio: usd.optional(),
  image_token: usd.optional(),
  image_output: usd.optional(),
};
const perToken = z.strictObject({
  ...price,
  overrides: z.array(z.strictObject({ ...price, min_prompt_tokens: z.int().positive() })).optional(),
});
/** Members that PyPI openrouter 1.3.84 requires of a model, with their types. */
const openRouterModel = z.strictObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  name: z.string().min(1),
  canonical_slug: z.string(),
  context_length: z.int().positive().nullable(),
  architecture: z.strictObject({
    modality: z.string().regex(/^\w+(\+\w+)*->\w+(\+\w+)*$/),
    input_modalities: z.array(z.enum(['text', 'image', 'audio', 'video'])).min(1),
    output_modalities: z
      .array(z.enum(['text', 'image', 'embeddings', 'video', 'speech', 'transcription', 'json']))
      .min(1),
    tokenizer: z.enum(['GPT', 'Claude', 'Gemini', 'Other']),
    instruct_type: z.null(),
  }),
  pricing: perToken.or(
    z.looseObject({ prompt: z.literal('0'), completion: z.literal('0'), prices: z.array(z.looseObject({})) }),
  ),
  top_provider: z.strictObject({
    context_length: z.int().positive().nullable(),
    max_completion_tokens: z.int().positive().nullable(),
    is_moderated: z.boolean(),
  }),
  supported_parameters: z.array(z.string()),
  supported_voices: z.array(z.string()).nullable(),
  default_parameters: z.null(),
  per_request_limits: z.null(),
  expiration_date: z.iso.date().nullable(),
  links: z.strictObject({ details: z.string() }),
});

const shapeOf = (id: string, { at = NOW, from = catalog }: { at?: number; from?: Catalog } = {}) => {
  const model = from.find(id, at);
  if (!model) throw new Error(`no ${id}`);
  return openRouterModel.parse(toOpenAiModel(from, model, at));
};

describe('CAT-8 a listed model', () => {
  test('CAT-8 every listed model has the members of OpenRouter', async () => {
    const { read, apiKey } = await serveModels(createListModels);
    const { body } = await read('/v1/models', { authorization: `Bearer ${apiKey}` });
    expect(z.array(openRouterModel).parse(body.data)).toEqual(body.data);
    expect(body).toMatchObject({ object: 'list', total_count: catalog.list(NOW).length, links: { next: null } });
    expect(body.data).toHaveLength(body.total_count);
  });

  test('CAT-8 a model requested by its alias has the id and slug of the model', async () => {
    const { read, apiKey } = await serveModels(createGetModel);
    const { body } = await read('/v1/models/claude-haiku-5-5-thinking', { authorization: `Bearer ${apiKey}` });
    expect(body).toEqual(shapeOf('claude-haiku-5-5'));
    expect(body.canonical_slug).toBe('claude-haiku-5-5');
  });

  test('CAT-8 a model of messages has cache rates, and an override above each length tier', () => {
    expect(shapeOf('claude-haiku-5-5')).toMatchObject({
      name: 'Claude Haiku 5.5',
      context_length: 1_000_000,
      architecture: { modality: 'text+image->text', tokenizer: 'Claude' },
      pricing: {
        prompt: '0.0000001',
        completion: '0.0000005',
        input_cache_read: '0.00000001',
        input_cache_write: '0.000000125',
        input_cache_write_1h: '0.0000002',
        overrides: [{ min_prompt_tokens: 100_000, prompt: '0.0000005', input_cache_read: '0.00000005' }],
      },
      top_provider: { context_length: 1_000_000, max_completion_tokens: 128_000, is_moderated: false },
    });
  });

  test('CAT-8 BILL-18 in other formats cached tokens cost as much as other prompt tokens', () => {
    const { pricing } = shapeOf('gpt-5.4-mini');
    expect(pricing).toEqual({
      prompt: '0.00000075',
      completion: '0.0000045',
      input_cache_read: '0.00000075',
      input_cache_write: '0.00000075',
    });
  });

  test('CAT-8 prices are those of the day', () => {
    const last = shapeOf('gemini-4-argon', { at: Date.UTC(2026, 10, 30, 23, 59, 59, 999) });
    const first = shapeOf('gemini-4-argon', { at: Date.UTC(2026, 11, 1) });
    expect([last.pricing.prompt, first.pricing.prompt]).toEqual(['0.000002', '0.000004']);
  });

  test('CAT-8 prices include the markup', () => {
    const from = loadCatalog(catalogData, { markup: '1.25' });
    expect(shapeOf('gpt-5.4-mini', { from }).pricing).toMatchObject({
      prompt: '0.0000009375',
      completion: '0.000005625',
    });
  });

  test.for([
    ['gpt-image-2', { prompt: '0.000005', image_token: '0.000008', image_output: '0.00003' }],
    ['gemini-3-pro-image', { prompt: '0.000002', completion: '0.000012', image_output: '0.00012' }],
    ['gpt-4o-transcribe', { prompt: '0.0000025', completion: '0.00001', audio: '0.000006' }],
    ['text-embedding-3-small', { prompt: '0.00000002', completion: '0' }],
    ['seedream-4-0', { prompt: '0', completion: '0', prices: [{ prices_usd: { image: '0.03' } }] }],
    ['gpt-transcribe', { prompt: '0', completion: '0', prices: [{ prices_usd: { second: '0.000075' } }] }],
    ['tts-1', { prompt: '0', completion: '0', prices: [{ prices_usd: { character: '0.000015' } }] }],
    ['flux-2-pro', { prompt: '0', completion: '0', prices: [{ prices_usd: { first_megapixel: '0.03' } }] }],
  ] as const)('CAT-8 %s has the prices %j', ([id, pricing]) => {
    expect(shapeOf(id).pricing).toMatchObject(pricing);
  });

  test('CAT-8 only models of chat completions have supported parameters', () => {
    for (const model of catalog.list(NOW)) {
      const isChat = model.protocols.some((protocol) => protocol === 'chat_completions');
      const { supported_parameters: names } = shapeOf(model.id);
      expect([model.id, names.includes('max_tokens')]).toEqual([model.id, isChat]);
      expect(names).toEqual([...new Set(names)].toSorted());
    }
  });
});

const bounds = { promptTokens: 10_000_000, answerTokens: 10_000_000 };
const count = fc.nat({ max: 400_000 });
const usages = fc.record({
  input: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWrite1h: count,
  output: count,
  reasoning: count,
});

/** Price of a request as a client computes it from `pricing`: the last override that applies counts. */
const clientPrice = (id: string, usage: TokenUsage): bigint => {
  const pricing = perToken.parse(shapeOf(id).pricing);
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h;
  const override = pricing.overrides?.findLast(({ min_prompt_tokens: above }) => promptTokens > above);
  const rates = { ...pricing, ...override };
  const priced = (tokens: number, rate = rates.prompt): bigint => BigInt(tokens) * parseUsd(rate);
  return (
    priced(usage.input) +
    priced(usage.cacheRead, rates.input_cache_read) +
    priced(usage.cacheWrite, rates.input_cache_write) +
    priced(usage.cacheWrite1h, rates.input_cache_write_1h) +
    priced(usage.output + usage.reasoning, rates.completion)
  );
};

const text = catalog.list(NOW).flatMap((model) => textModelOf(model) ?? []);

test.each(text.map(({ id }) => id))('CAT-8 BILL-3 pricing of %s yields the exact charge', (id) => {
  const model = text.find((candidate) => candidate.id === id);
  if (!model) throw new Error(`no ${id}`);
  const row = catalog.priceRow(model, NOW);
  const cacheRates = model.protocols.includes('messages') ? 'cache-rates' : 'one-rate';
  fc.assert(
    fc.property(usages, (usage) => {
      expect(clientPrice(id, usage)).toBe(chargeFor(row, usage, bounds, cacheRates).amountPicos);
    }),
    runs,
  );
});
