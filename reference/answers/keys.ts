import * as z from 'zod';
import { capKinds } from '../../lambdas/core/accounts/key-ring.ts';
import { keyId, secretKey } from './account.ts';
import { count, time, usd } from './forms.ts';

const ofKey = {
  id: keyId,
  object: z.literal('api_key'),
  name: z.string(),
  masked: z.string().describe('First and last characters of the API key.'),
  first: z.boolean().describe('Whether this is the key that the bot and the mini app show and replace.'),
  created_at: time.describe('UTC.'),
  last_used_at: time.nullable().describe('UTC, at most a minute late. Null before the first use.'),
  expires_at: time.nullable().describe('UTC. From then on the key is 401 `expired_api_key`.'),
  limit_usd: usd.nullable().describe('Cap of the spending. Null without one.'),
  limit_period: z.enum(capKinds).nullable().describe('Period of the cap, in UTC.'),
  limit_resets_at: time.nullable().describe('Start of the next period of the cap. Null if it never resets.'),
  spent_usd: usd
    .nullable()
    .describe(
      'Charges of the present period of the cap. Without a cap, the charges of all time, at most a minute late. Null if they are not known.',
    ),
  held_usd: usd.nullable().describe('Open holds that count against the cap. Null without a cap.'),
  models: z.array(z.string()).nullable().describe('Models that the key can call. Null means all.'),
  requests_per_second: z.number().nullable().describe('Own rate of the key. Null means that of every key.'),
  rights: z.array(z.enum(['manage'])).describe('`manage`: the key can use the routes of this section.'),
  version: count.describe('Version of the key, as `ETag` has it.'),
};

/** API key of an account (KEY-8). */
export const apiKey = z.looseObject(ofKey).meta({ id: 'ApiKey' });

export const apiKeyList = z
  .looseObject({ object: z.literal('list'), data: z.array(apiKey), has_more: z.literal(false) })
  .meta({ id: 'ApiKeyList' });

/** API key that was just created (KEY-8). */
export const createdKey = z.looseObject({ ...ofKey, key: secretKey }).meta({ id: 'CreatedApiKey' });

export const deletedKey = z
  .looseObject({ id: keyId, object: z.literal('api_key.deleted'), deleted: z.literal(true) })
  .meta({ id: 'DeletedApiKey' });
