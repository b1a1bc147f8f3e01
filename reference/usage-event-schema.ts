import * as z from 'zod';
import { USAGE_RECORDED, USAGE_UNREADABLE } from '../lambdas/protocols/account/usage-event.ts';
import { accountId, usageRow } from './answers/account.ts';
import { requestId, time, usd } from './answers/forms.ts';
import type { JsonSchema } from './json-schema.ts';

const envelope = {
  specversion: z.literal('1.0'),
  id: z.string().min(1).describe('The same in every delivery. Count each `source` and `id` once.'),
  source: z.string().min(1).describe('Environment of the gateway.'),
  subject: z.string().min(1).describe('Request of the event.'),
  datacontenttype: z.literal('application/json'),
};

const recorded = z
  .looseObject({
    ...envelope,
    type: z.literal(USAGE_RECORDED),
    time: time.describe('Time of the charge record: UTC.'),
    data: usageRow
      .omit({ held_usd: true })
      .extend({
        id: requestId.describe('`x-request-id` of the request.'),
        account_id: accountId,
        outcome: z.enum(['charged', 'released']),
        cost_usd: usd.describe('Exact charge. `0` if released.'),
        provider_cost_usd: usd
          .nullable()
          .describe("Provider's bill by the catalog. Null if it is not known, as in released requests."),
      })
      .meta({ id: 'UsageData' }),
  })
  .meta({ id: 'UsageRecorded', title: 'A receipt' });

const unreadable = z
  .looseObject({
    ...envelope,
    type: z.literal(USAGE_UNREADABLE),
    data: z.looseObject({ account_id: z.string(), request_id: z.string() }),
  })
  .meta({ id: 'UsageUnreadable', title: 'A charge record that the gateway cannot read' });

/** Schema of usage events (OPS-20). Receivers must accept further fields. */
export const usageEvent = z.discriminatedUnion('type', [recorded, unreadable]);

/** Returns the published JSON Schema. */
export const createUsageEventSchema = (): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Usage event',
  description: 'Event of a charge record, in the JSON format of CloudEvents 1.0.',
  ...z.toJSONSchema(usageEvent, { io: 'output' }),
});
