import * as z from 'zod';

const usd = z.string().describe('USD as an exact decimal string.');
const amounts = z.record(z.string(), z.string());

const ofAccount = {
  id: z.string(),
  status: z.string().describe('`active` or `blocked`.'),
  balance_usd: usd.describe('What was paid in less what was charged.'),
  available_usd: usd.describe('The balance without what open requests hold.'),
  held_usd: usd.describe('What open requests hold.'),
  open_holds: z.int().describe('How many requests are open.'),
};

/** BILL-15. */
export const account = z.looseObject(ofAccount).meta({ id: 'Account' });

export const usageRow = z
  .looseObject({
    id: z.string().describe('The `x-request-id` of the request.'),
    object: z.literal('usage'),
    created_at: z.string().describe('ISO 8601, UTC.'),
    outcome: z.enum(['charged', 'released', 'open']),
    reason: z.string().nullable().describe('Why nothing was charged.'),
    model: z.string().nullable(),
    usage: z.record(z.string(), z.number()).nullable().describe('What was counted.'),
    prices_usd: amounts.nullable().describe('For one of what was counted, as it stood when the request came.'),
    cost_usd: z.string().nullable().describe('What was charged, exactly. Null while the request is open.'),
    overage: z.boolean().describe('The charge was above what had been held.'),
    end_user: z.string().nullable().describe('The `user` of the request.'),
    ignored: z.array(z.string()).describe('Fields of the request that were ignored.'),
    held_usd: z.string().optional().describe('Of an open request.'),
  })
  .meta({ id: 'UsageRow' });

export const usageList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(usageRow),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('`cursor` of the next page.'),
  })
  .meta({ id: 'UsageList' });

/** KEY-4. */
export const appAccount = z
  .looseObject({
    ...ofAccount,
    days_left: z
      .number()
      .nullable()
      .describe('How long the balance lasts at the pace of the last week. Null without any.'),
    threshold_usd: usd.describe('Below this balance the bot sends a notice; 0 is never.'),
    key: z.looseObject({ id: z.string(), masked: z.string(), issued_at: z.string(), revoked: z.boolean() }).nullable(),
  })
  .meta({ id: 'AppAccount' });

const modelSpend = z.looseObject({ model: z.string(), cost_usd: z.string(), requests: z.int() });

export const spend = z
  .looseObject({
    object: z.literal('spend'),
    from: z.string().describe('The first day, UTC.'),
    to: z.string().describe('Today, UTC.'),
    complete: z.boolean().describe('False where the account has more requests than are read.'),
    requests: z.int(),
    failed: z.int().describe('Requests that were not charged.'),
    total_usd: usd,
    days: z.array(
      z.looseObject({
        day: z.string(),
        cost_usd: z.string(),
        requests: z.int(),
        failed: z.int(),
        models: z.array(modelSpend),
      }),
    ),
    models: z.array(modelSpend),
  })
  .meta({ id: 'Spend' });

/** KEY-3. */
export const threshold = z.looseObject({ threshold_usd: usd }).meta({ id: 'Threshold' });

/** KEY-2. */
export const newKey = z
  .looseObject({ key: z.string().describe('Shown here and never again.'), id: z.string(), masked: z.string() })
  .meta({ id: 'NewKey' });

/** KEY-6. */
export const credit = z
  .looseObject({
    object: z.literal('credit'),
    account: z.string(),
    ref: z.string(),
    amount_usd: usd,
    repeated: z.boolean().describe('This payment had been credited before: nothing was credited now.'),
    balance_usd: usd,
  })
  .meta({ id: 'Credit' });
