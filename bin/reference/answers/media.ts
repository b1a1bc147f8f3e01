import * as z from 'zod';

/** EMB-1. */
export const embeddings = z
  .looseObject({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('Numbers, or with `encoding_format` of base64 the bytes of little-endian 32-bit floats.'),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'Embeddings' });

/** MOD-1. */
export const moderation = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    results: z.array(
      z.looseObject({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean()),
        category_scores: z.record(z.string(), z.number()),
      }),
    ),
  })
  .meta({ id: 'Moderation' });

/** IMG-1. */
export const images = z
  .looseObject({
    created: z.int().describe('Unix seconds.'),
    data: z.array(
      z.looseObject({
        url: z.string().optional().describe('A link that works for 24 hours, without a key.'),
        b64_json: z.string().optional().describe('The image itself.'),
        size: z.string().describe('What the image really has, such as 1024x1024.'),
        revised_prompt: z.string().optional(),
      }),
    ),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
      .optional()
      .describe('Where the vendor counts tokens.'),
  })
  .meta({ id: 'Images' });

/** AUD-1. */
export const transcript = z
  .looseObject({ text: z.string(), usage: z.looseObject({ type: z.string().optional() }).optional() })
  .meta({ id: 'Transcript' });

const unixSeconds = z.int().nullable();

/** VID-1. */
export const video = z
  .looseObject({
    id: z.string(),
    object: z.literal('video'),
    model: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: z.int().describe('Percent.'),
    created_at: z.int().describe('Unix seconds.'),
    completed_at: unixSeconds,
    expires_at: unixSeconds.describe('Until when the file is kept: 24 hours after completion.'),
    size: z.string(),
    seconds: z.string(),
    prompt: z.string(),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable().describe('Why a failed one failed.'),
    remixed_from_video_id: z.null(),
  })
  .meta({ id: 'Video' });

/** VID-8. */
export const videoList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(video),
    first_id: z.string().nullable(),
    last_id: z.string().nullable().describe('`after` of the next page.'),
    has_more: z.boolean(),
  })
  .meta({ id: 'VideoList' });

export const deletedVideo = z
  .looseObject({ id: z.string(), object: z.literal('video.deleted'), deleted: z.literal(true) })
  .meta({ id: 'DeletedVideo' });

export const file = { type: 'string', format: 'binary' } as const;
