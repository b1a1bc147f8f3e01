import * as z from 'zod';
import { count, day, time, unixSeconds, usd } from './forms.ts';

const perToken = {
  prompt: usd.describe('USD per prompt token.'),
  completion: usd.describe('USD per output token, including reasoning.'),
  input_cache_read: usd.optional().describe('USD per prompt token that is read from a cache.'),
  input_cache_write: usd.optional().describe('USD per prompt token that is written to a cache for five minutes.'),
  input_cache_write_1h: usd.optional().describe('USD per prompt token that is written to a cache for one hour.'),
  audio: usd.optional().describe('USD per audio token of the prompt.'),
  image_token: usd.optional().describe('USD per image token of the prompt.'),
  image_output: usd.optional().describe('USD per image token of the output.'),
};

const pricing = z
  .looseObject({
    ...perToken,
    prices: z.array(z.looseObject({})).optional(),
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
    'Current prices in USD per token, as exact decimal strings. A model with other units has `0` in `prompt` and `completion`, and its current prices in `prices`, as in `GET /api/models`.',
  );

const contextLength = z.int().nullable().describe('Tokens. Null for a model without a token limit.');

/** Model object (CAT-1, CAT-8). */
export const model = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: unixSeconds,
    owned_by: z.string(),
    name: z.string(),
    canonical_slug: z.string().describe('Equal to `id`.'),
    context_length: contextLength,
    architecture: z.looseObject({
      modality: z.string().describe('Input and output types, such as `text+image->text`.'),
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
      .describe('Chat completion fields that the model supports. Other fields are ignored or rejected.'),
    supported_voices: z.array(z.string()).nullable(),
    default_parameters: z.null(),
    per_request_limits: z.null(),
    expiration_date: day.nullable().describe('First day on which the model is not available.'),
    links: z.looseObject({ details: z.string() }),
  })
  .meta({ id: 'Model' });
export const modelList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(model),
    total_count: count,
    links: z.looseObject({ next: z.null().describe('Always null: the list has one page.') }),
  })
  .meta({ id: 'ModelList' });

/** CAT-7, in the format of messages. */
export const messagesModel = z
  .looseObject({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: time,
    line: z.null(),
    lifecycle: z.enum(['active', 'deprecated']),
    deprecated_at: z.null(),
    retires_at: time.nullable().describe('Start of the first day on which the model is not available.'),
    max_input_tokens: count,
    max_tokens: count,
    capabilities: z.looseObject({}).describe('Features of the model that the gateway supports.'),
  })
  .meta({ id: 'MessagesModel' });
export const messagesModelList = z
  .looseObject({
    data: z.array(messagesModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'MessagesModelList' });

/** CAT-7, in the format of generateContent. */
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
    protocols: z.array(z.string()).describe('Protocols that charge these prices.'),
    from: day.nullable().describe('First day of these prices.'),
    until: day.nullable().describe('Last day of these prices.'),
    when: z
      .looseObject({
        input_tokens_above: count.optional().describe('Requests with more prompt tokens than this.'),
        input_tokens_max: count.optional().describe('Requests with at most this number of prompt tokens.'),
        pixels_above: count.optional().describe('Images with more pixels than this.'),
        pixels_max: count.optional().describe('Images with at most this number of pixels.'),
        size_tier: z.string().optional().describe('Images whose size is in this tier of `limits.size`.'),
        sizes: z.array(z.string()).optional().describe('Videos of these sizes.'),
      })
      .describe('Requests that pay these prices. Empty for all requests. Exactly one price applies to a request.'),
    prices_usd: z
      .record(z.string(), usd)
      .describe('USD for one unit of each count, such as one token, with the names of `usage` in a receipt.'),
  })
  .meta({ id: 'Price' });

const example = z
  .looseObject({
    size: z.string().nullable(),
    quality: z.string().nullable().describe('Null if the request has none. The price is then the highest.'),
    seconds: z.int().nullable().describe('Length of the clip, the speech or the recording.'),
    characters: z.int().optional().describe('Length of the text, for speech.'),
    usd: usd.describe('Price of the request, without prompt and reference images.'),
  })
  .meta({ id: 'PriceExample' });

/** List of models with prices (CAT-2). */
export const priceList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        id: z.string(),
        kind: z.enum(['text', 'image', 'video', 'speech', 'transcription', 'embedding', 'moderation']),
        owned_by: z.string(),
        protocols: z.array(z.string()).describe('Protocols that the model supports.'),
        prices: z.array(price),
        examples: z
          .array(example)
          .describe('Typical requests at the current prices: one image, one clip, or one minute of speech.'),
        limits: z.looseObject({}).describe('Limits for requests, such as lengths, sizes and voices.'),
        capabilities: z.looseObject({}),
        reasoning: z.looseObject({
          levels: z
            .array(z.string())
            .describe(
              'Reasoning levels that a user interface can offer. The gateway does not check requests against them.',
            ),
        }),
        lifecycle: z.looseObject({ shutdown_date: day.nullable(), replacement: z.string().nullable() }),
      }),
    ),
  })
  .meta({ id: 'PriceList' });

/** List of fallback models (CAT-3). */
export const reserves = z
  .looseObject({ object: z.literal('list'), model: z.string(), data: z.array(z.looseObject({ id: z.string() })) })
  .meta({ id: 'Reserves' });

/** Response of the health check (GEN-10). */
export const health = z.looseObject({ status: z.enum(['ok', 'maintenance']) }).meta({ id: 'Health' });
export const degradedHealth = z
  .looseObject({
    status: z.literal('degraded'),
    problems: z.array(z.enum(['disk_space', 'database', 'clock', 'check_failed'])),
  })
  .meta({ id: 'DegradedHealth' });
