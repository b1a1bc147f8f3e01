import * as z from 'zod';

/** CAT-1. */
export const model = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Unix seconds.'),
    owned_by: z.string(),
  })
  .meta({ id: 'Model' });
export const modelList = z.looseObject({ object: z.literal('list'), data: z.array(model) }).meta({ id: 'ModelList' });

/** CAT-7, in the shape of the messages format. */
export const messagesModel = z
  .looseObject({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    max_input_tokens: z.int(),
    max_tokens: z.int(),
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

/** CAT-7, in the shape of generate-content. */
export const contentModel = z
  .looseObject({
    name: z.string().describe('`models/<id>`'),
    version: z.string(),
    displayName: z.string(),
    inputTokenLimit: z.int(),
    outputTokenLimit: z.int(),
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
    from: z.string().nullable().describe('The first day of these prices.'),
    until: z.string().nullable().describe('The day on which they end.'),
    tiers: z.array(z.looseObject({ above_input_tokens: z.int() })).describe('Rates of longer prompts.'),
  })
  .describe('Beside these members the rates stand, as decimal strings of USD.');

/** CAT-2. */
export const priceList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        id: z.string(),
        kind: z.string().describe('`text`, `image`, `video`, `speech`, `transcription`, `embedding` or `moderation`.'),
        owned_by: z.string(),
        protocols: z.array(z.string()).describe('Which formats it is served in.'),
        prices: z.array(price),
        limits: z.looseObject({}).describe('Lengths, sizes, voices: what requests have to keep to.'),
        capabilities: z.looseObject({}),
        reasoning: z.looseObject({
          levels: z.array(z.string()).describe('What an interface may offer. No check reads it.'),
        }),
        lifecycle: z.looseObject({ shutdown_date: z.string().nullable(), replacement: z.string().nullable() }),
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
  .looseObject({ status: z.literal('degraded'), problems: z.array(z.string()) })
  .meta({ id: 'DegradedHealth' });
