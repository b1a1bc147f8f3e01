import * as z from 'zod';
import { ACCOUNT_ID_FORM } from '../../lambdas/core/accounts/account-store.ts';
import { REF_FORM } from '../../lambdas/core/ledger/credit.ts';
import { count, day, receiptId, time, usd } from './forms.ts';

const accountId = z.string().regex(ACCOUNT_ID_FORM);
const keyId = z.string().regex(/^[0-9a-f]{16}$/);

const ofAccount = {
  id: accountId,
  status: z.enum(['active', 'blocked']),
  balance_usd: usd.describe('What was paid in less what was charged.'),
  available_usd: usd.describe('The balance without what open requests hold.'),
  held_usd: usd.describe('What open requests hold.'),
  open_holds: count.describe('How many requests are open.'),
};

/** BILL-15. */
export const account = z.looseObject(ofAccount).meta({ id: 'Account' });

export const usageRow = z
  .looseObject({
    id: receiptId.describe('The `x-request-id` of the request, or the id of a video.'),
    object: z.literal('usage'),
    created_at: time.describe('UTC.'),
    outcome: z.enum(['charged', 'released', 'open']),
    reason: z.string().nullable().describe('Why nothing was charged.'),
    model: z.string().nullable(),
    usage: z.record(z.string(), z.number().min(0)).nullable().describe('What was counted.'),
    prices_usd: z
      .record(z.string(), usd)
      .nullable()
      .describe('For one of what was counted, as it stood when the request came.'),
    cost_usd: usd.nullable().describe('What was charged, exactly. Null while the request is open.'),
    overage: z.boolean().describe('The charge was above what had been held.'),
    end_user: z.string().nullable().describe('The `user` of the request.'),
    ignored: z.array(z.string()).describe('Fields of the request that were ignored.'),
    held_usd: usd.optional().describe('Of an open request.'),
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
    key: z.looseObject({ id: keyId, masked: z.string(), issued_at: time, revoked: z.boolean() }).nullable(),
  })
  .meta({ id: 'AppAccount' });

const modelSpend = z.looseObject({ model: z.string(), cost_usd: usd, requests: count });

export const spend = z
  .looseObject({
    object: z.literal('spend'),
    from: day.describe('The first day, UTC.'),
    to: day.describe('Today, UTC.'),
    complete: z.boolean().describe('False where the account has more requests than are read.'),
    requests: count,
    failed: count.describe('Requests that were not charged.'),
    total_usd: usd,
    days: z.array(
      z.looseObject({
        day,
        cost_usd: usd,
        requests: count,
        failed: count,
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
  .looseObject({
    key: z
      .string()
      .regex(/^sk-service-[0-9A-Za-z]{49}$/)
      .describe('Shown here and never again.'),
    id: keyId,
    masked: z.string(),
  })
  .meta({ id: 'NewKey' });

/** KEY-6. */
export const credit = z
  .looseObject({
    object: z.literal('credit'),
    account: accountId,
    ref: z.string().regex(REF_FORM),
    amount_usd: usd,
    repeated: z.boolean().describe('This payment had been credited before: nothing was credited now.'),
    balance_usd: usd,
  })
  .meta({ id: 'Credit' });
