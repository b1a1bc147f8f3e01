import * as z from 'zod';
import { count, time } from './forms.ts';

const eventId = z.string().regex(/^evt_\w+$/);

/** Signing secret of an account's webhooks (HOOK-2). */
export const webhookSecret = z
  .looseObject({
    object: z.literal('webhook_secret'),
    secret: z
      .string()
      .regex(/^whsec_[0-9A-Za-z+/]{43}=$/)
      .describe('`whsec_` and the key of the HMAC in base64.'),
    version: z.int().min(1).describe('Each rotation adds 1.'),
    created_at: time.describe('UTC.'),
    previous_valid_until: time.nullable().describe('Until then, the secret before the last rotation also signs.'),
  })
  .meta({ id: 'WebhookSecret' });

/** Result of a webhook test (HOOK-3). */
export const webhookTest = z
  .looseObject({
    object: z.literal('webhook_test'),
    id: eventId.describe('`webhook-id` of the event.'),
    delivered: z.boolean().describe('Whether the server returned a 2xx status.'),
    status: z.int().nullable().describe('Status of your server. Null without a response.'),
    error: z.string().nullable().describe('Why the event was not delivered.'),
    duration_ms: count,
  })
  .meta({ id: 'WebhookTest' });

/** Deliveries of the webhook of a video (VID-7). */
export const webhookDelivery = z.looseObject({
  id: eventId.describe('`webhook-id` of the event.'),
  status: z.enum(['pending', 'delivered', 'failed']).describe('`failed`: the last attempt has failed.'),
  attempts: z.int().min(0).max(5),
  last_attempt_at: z.int().nullable().describe('Unix seconds.'),
  last_status: z.int().nullable().describe('Status of your server. Null without a response.'),
  last_error: z.string().nullable(),
  next_attempt_at: z.int().nullable().describe('Unix seconds. The next attempt starts at this time at the latest.'),
});
