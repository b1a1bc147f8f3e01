import * as z from 'zod';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { count, pixels, unixSeconds, videoId } from './forms.ts';
import { webhookDelivery } from './webhooks.ts';

/** Response of embeddings (EMB-1). */
export const embeddings = z
  .looseObject({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: count,
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('Numbers. With `encoding_format` of `base64`: little-endian 32-bit floats in base64.'),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: count, total_tokens: count }),
  })
  .meta({ id: 'Embeddings' });

/** Response of moderations (MOD-1). */
export const moderation = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    results: z.array(
      z.looseObject({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean()),
        category_scores: z.record(z.string(), z.number().min(0).max(1)),
      }),
    ),
  })
  .meta({ id: 'Moderation' });

/** Response of image generations and edits (IMG-1). */
export const images = z
  .looseObject({
    created: unixSeconds,
    data: z.array(
      z.looseObject({
        url: z.url().optional().describe('URL of the image. It works for 24 hours, without an API key.'),
        b64_json: z.string().optional().describe('The image in base64.'),
        size: pixels.describe('Actual size of the image in pixels, such as 1024x1024.'),
        generated_size: pixels
          .optional()
          .describe('Size at which the provider generated the image, if it is not the requested size.'),
        revised_prompt: z.string().optional(),
      }),
    ),
    usage: z
      .looseObject({ input_tokens: count, output_tokens: count, total_tokens: count })
      .optional()
      .describe('Present if the provider counts tokens.'),
  })
  .meta({ id: 'Images' });

/** Response of a transcription (AUD-1). */
export const transcript = z
  .looseObject({ text: z.string(), usage: z.looseObject({ type: z.string().optional() }).optional() })
  .meta({ id: 'Transcript' });

/** Video object (VID-1). */
export const video = z
  .looseObject({
    id: videoId,
    object: z.literal('video'),
    model: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: z.int().min(0).max(100).describe('Percent.'),
    created_at: unixSeconds,
    completed_at: unixSeconds.nullable(),
    expires_at: unixSeconds.nullable().describe('The file is stored until this time: 24 hours after completion.'),
    size: pixels,
    seconds: z.string().regex(/^\d+$/),
    prompt: z.string(),
    error: z
      .looseObject({ code: z.enum(errorCodes), message: z.string() })
      .nullable()
      .describe('Why the video failed. Null if it did not fail.'),
    remixed_from_video_id: z.null(),
    webhook: webhookDelivery
      .optional()
      .describe(
        'Deliveries of the webhook. Present if the video has a `webhook_url`, but not in the response to its creation.',
      ),
  })
  .meta({ id: 'Video' });

/** List of videos (VID-8). */
export const videoList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(video),
    first_id: videoId.nullable(),
    last_id: videoId.nullable().describe('Value of `after` for the next page.'),
    has_more: z.boolean(),
  })
  .meta({ id: 'VideoList' });

export const deletedVideo = z
  .looseObject({ id: videoId, object: z.literal('video.deleted'), deleted: z.literal(true) })
  .meta({ id: 'DeletedVideo' });

export const file = { type: 'string', format: 'binary' } as const;
