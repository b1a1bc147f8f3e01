import * as z from 'zod';
import { count, day, unixSeconds, usd } from './forms.ts';

const perToken = {
  prompt: usd.describe('For a prompt token.'),
  completion: usd.describe('For an output token, reasoning included.'),
  input_cache_read: usd.optional().describe('For a prompt token that is read from a cache.'),
  input_cache_write: usd.optional().describe('For a prompt token that is written to a cache for five minutes.'),
  input_cache_write_1h: usd.optional().describe('For a prompt token that is written to a cache for an hour.'),
  audio: usd.optional().describe('For an audio token of the prompt.'),
  image_token: usd.optional().describe('For an image token of the prompt.'),
  image_output: usd.optional().describe('For an image token of the output.'),
};

const pricing = z
  .looseObject({
    ...perToken,
    overrides: z
      .array(
        z.looseObject({
          ...perToken,
          min_prompt_tokens: z.int().describe('These prices apply to requests with more prompt tokens than this.'),
        }),
      )
      .optional(),
  })
  .describe(
    'What a request that arrives now is charged, in USD per token as exact decimal strings. A model with other units has `prompt` and `completion` of `0` and beside them its prices as in `GET /api/models`.',
  );

const contextLength = z.int().nullable().describe('In tokens. Null for a model without a limit in tokens.');

/** CAT-1 and CAT-8. */
export const model = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: unixSeconds,
    owned_by: z.string(),
    name: z.string(),
    canonical_slug: z.string().describe('The id.'),
    context_length: contextLength,
    architecture: z.looseObject({
      modality: z.string().describe('Such as `text+image->text`.'),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      instruct_type: z.null(),
    }),
    pricing,
    top_provider: z.looseObject({
      context_length: contextLength,
      max_completion_tokens: z.int().nullable(),
      is_moderated: z.boolean(),
    }),
    supported_parameters: z
      .array(z.string())
      .describe('Fields of chat completions that the model takes. Others are ignored or refused.'),
    supported_voices: z.array(z.string()).nullable(),
    default_parameters: z.null(),
    per_request_limits: z.null(),
    expiration_date: day.nullable().describe('The first day on which the model is no longer served.'),
    links: z.looseObject({ details: z.string() }),
  })
  .meta({ id: 'Model' });
export const modelList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(model),
    total_count: count,
    links: z.looseObject({ next: z.null().describe('The list is one page.') }),
  })
  .meta({ id: 'ModelList' });

/** CAT-7, in the shape of generate-content. */
export const contentModel = z
  .looseObject({
    name: z
      .string()
      .regex(/^models\//)
      .describe('`models/<id>`'),
    version: z.string(),
    displayName: z.string(),
    inputTokenLimit: count,
    outputTokenLimit: count,
    supportedGenerationMethods: z.array(z.string()),
    thinking: z.boolean(),
  })
  .meta({ id: 'ContentModel' });
export const contentModelList = z
  .looseObject({ models: z.array(contentModel), nextPageToken: z.string().optional() })
  .meta({ id: 'ContentModelList' });

const price = z
  .looseObject({
    unit: z.string().describe('What the rates are for, such as `1M_tokens`.'),
    from: day.nullable().describe('The first day of these prices.'),
    until: day.nullable().describe('The day on which they end.'),
    tiers: z.array(z.looseObject({ above_input_tokens: count })).describe('Rates of longer prompts.'),
  })
  .describe('Beside these members the rates stand, as decimal strings of USD.');

/** CAT-2. */
export const priceList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        id: z.string(),
        kind: z.enum(['text', 'image', 'video', 'speech', 'transcription', 'embedding', 'moderation']),
        owned_by: z.string(),
        protocols: z.array(z.string()).describe('Which formats it is served in.'),
        prices: z.array(price),
        limits: z.looseObject({}).describe('Lengths, sizes, voices: what requests have to keep to.'),
        capabilities: z.looseObject({}),
        reasoning: z.looseObject({
          levels: z.array(z.string()).describe('What an interface may offer. No check reads it.'),
        }),
        lifecycle: z.looseObject({ shutdown_date: day.nullable(), replacement: z.string().nullable() }),
      }),
    ),
  })
  .meta({ id: 'PriceList' });

/** CAT-3. */
export const reserves = z
  .looseObject({ object: z.literal('list'), model: z.string(), data: z.array(z.looseObject({ id: z.string() })) })
  .meta({ id: 'Reserves' });

/** GEN-10. */
export const health = z.looseObject({ status: z.literal('ok') }).meta({ id: 'Health' });
export const degradedHealth = z
  .looseObject({
    status: z.literal('degraded'),
    problems: z.array(z.enum(['disk_space', 'database', 'check_failed'])),
  })
  .meta({ id: 'DegradedHealth' });
