import * as z from 'zod';
import { ACCOUNT_ID_FORM } from '../../lambdas/core/accounts/account-store.ts';
import { REF_FORM } from '../../lambdas/core/ledger/credit.ts';
import { creditTypes, returnTypes } from '../../lambdas/core/ledger/credit-record.ts';
import { count, day, month, receiptId, time, usd } from './forms.ts';

export const accountId = z.string().regex(ACCOUNT_ID_FORM);
export const keyId = z.string().regex(/^[0-9a-f]{16}$/);

const ofAccount = {
  id: accountId,
  status: z.enum(['active', 'blocked']),
  balance_usd: usd.describe('Credits, less refunds and chargebacks, minus charges. Below 0, paid requests are 402.'),
  available_usd: usd.describe('Balance minus open holds.'),
  held_usd: usd.describe('Sum of the open holds.'),
  open_holds: count.describe('Number of open holds.'),
};

/** Account with its balance (BILL-15). */
export const account = z.looseObject(ofAccount).meta({ id: 'Account' });

export const usageRow = z
  .looseObject({
    id: receiptId.describe('`x-request-id` of the request, or the id of a video.'),
    object: z.literal('usage'),
    created_at: time.describe('UTC.'),
    outcome: z.enum(['charged', 'released', 'open']),
    reason: z.string().nullable().describe('Why nothing was charged.'),
    model: z.string().nullable(),
    usage: z.record(z.string(), z.number().min(0)).nullable().describe('Billed units and their quantities.'),
    prices_usd: z.record(z.string(), usd).nullable().describe('Price of one unit at the time of the request.'),
    cost_usd: usd.nullable().describe('Exact charge. Null while the request is open.'),
    overage: z.boolean().describe('Whether the charge is above the hold.'),
    implausible: z
      .boolean()
      .describe('Whether a count in `usage` was above its bound, and only the bound was charged.'),
    cut_at_stop: z
      .boolean()
      .describe('Whether the gateway ended the output at a stop sequence, for a provider that does not.'),
    end_user: z.string().nullable().describe('`user` field of the request.'),
    ignored: z.array(z.string()).describe('Names of the request fields that the gateway ignored.'),
    uncollected_usd: usd
      .nullable()
      .describe('Estimated cost of a released request that the provider served. The account does not pay it.'),
    endpoint: z.string().nullable().describe('Path of the route. Null in receipts of earlier releases.'),
    key_id: keyId.nullable().describe('Id of the API key. Null in receipts of earlier releases.'),
    provider: z.string().nullable().describe('Provider of the call.'),
    first_byte_ms: count.nullable().describe('Time from the provider call to the start of its response.'),
    total_ms: count.nullable().describe('Time from the provider call to the end of its response.'),
    held_usd: usd.optional().describe('Hold of an open request.'),
  })
  .meta({ id: 'UsageRow' });

export const usageList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(usageRow),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('Value of `cursor` for the next page.'),
  })
  .meta({ id: 'UsageList' });

const usageSums = {
  requests: count.describe('Number of charged requests.'),
  cost_usd: usd,
  input_tokens: count.describe('Tokens of the prompts, cached ones included.'),
  output_tokens: count.describe('Tokens of the outputs, reasoning included.'),
};

/** Summary of charged requests (BILL-23). */
export const usageSummary = z
  .looseObject({
    object: z.literal('usage_summary'),
    from: day.describe('First UTC day.'),
    to: day.describe('Last UTC day, included.'),
    group_by: z.array(z.enum(['day', 'model', 'key', 'end_user'])),
    total: z.looseObject(usageSums),
    data: z
      .array(
        z.looseObject({
          day: day.optional(),
          model: z.string().nullable().optional(),
          key_id: keyId.nullable().optional(),
          key_name: z
            .string()
            .nullable()
            .optional()
            .describe(
              'Name of the API key. Null if it was deleted, if the row has none, or if another key without `manage` asks.',
            ),
          end_user: z.string().nullable().optional(),
          other: z
            .boolean()
            .optional()
            .describe('Whether the row merges the API keys and end users that a day has no room for.'),
          ...usageSums,
        }),
      )
      .describe('A row per group, by day and then the highest cost first. A row has only the names of its groups.'),
    complete: z.boolean().describe('Whether all receipts of the range are included.'),
    incomplete_days: z.array(day).describe('Days whose receipts are not all included yet. The next call continues.'),
  })
  .meta({ id: 'UsageSummary' });

const statementChange = z.looseObject({
  ref: z.string().describe('Reference of the change.'),
  type: z.enum(creditTypes),
  of: z.string().nullable().describe('Reference of the credit or the chargeback that it changes.'),
  amount_usd: usd.describe('Below 0 for a reversed chargeback.'),
  created_at: time.describe('UTC.'),
});

/** Statement of one month (BILL-22). */
export const statement = z
  .looseObject({
    object: z.literal('statement'),
    month,
    status: z.enum(['open', 'closed']).describe('`closed`: the month is over, and the statement never changes.'),
    opening_usd: usd.describe('Balance at the start of the month.'),
    credits_usd: usd.describe('Payments and other credits.'),
    returns_usd: usd.describe('Refunds, chargebacks and debits, less reversed chargebacks.'),
    charges_usd: usd.describe('Charges that were committed to the balance in the month.'),
    closing_usd: usd.describe('Balance at the end of the month, or now.'),
    held_usd: usd.describe('Open holds at the end of the month, or now. `closing_usd` still contains this amount.'),
    credits: z.array(statementChange),
    returns: z.array(statementChange),
    charges: z
      .array(z.looseObject({ model: z.string().nullable(), requests: count, cost_usd: usd }))
      .describe('Receipts with a time in the month, by model.'),
    charges_complete: z
      .boolean()
      .describe(
        'Whether `charges` has all receipts of the month. One read sums at most 5,000, the newest first. For a past month, the next read continues with older receipts.',
      ),
    settled_in_other_month_usd: usd
      .nullable()
      .describe(
        '`charges_usd` less the sum of `charges`. Above 0 for receipts of an earlier month that were committed in this one. Null while `charges_complete` is false.',
      ),
  })
  .meta({ id: 'Statement' });

/** Account as the mini app shows it (KEY-4). */
export const appAccount = z
  .looseObject({
    ...ofAccount,
    days_left: z
      .number()
      .nullable()
      .describe(
        'Days until the balance is spent at the rate of the last seven days. Null if nothing was spent, or if the first request is less than a day old.',
      ),
    threshold_usd: usd.describe(
      'The bot sends a notification when the balance falls to this amount. `0` turns notifications off.',
    ),
    key: z.looseObject({ id: keyId, masked: z.string(), issued_at: time, revoked: z.boolean() }).nullable(),
    top_up_url: z.string().nullable().describe('Link of the operator for topping up. Null without one.'),
    top_up_text: z.string().nullable().describe('Text of the operator about topping up. Null without one.'),
  })
  .meta({ id: 'AppAccount' });

const modelSpend = z.looseObject({ model: z.string(), cost_usd: usd, requests: count });

export const spend = z
  .looseObject({
    object: z.literal('spend'),
    from: day.describe('First day, in UTC.'),
    to: day.describe('Today, in UTC.'),
    complete: z.boolean().describe('False if the account has more requests than the gateway reads.'),
    requests: count,
    failed: count.describe('Number of requests that were not charged.'),
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

/** Threshold of the low-balance notification (KEY-3). */
export const threshold = z.looseObject({ threshold_usd: usd }).meta({ id: 'Threshold' });

/** Secret part of a new API key. */
export const secretKey = z
  .string()
  .regex(/^sk-service-[0-9A-Za-z]{49}$/)
  .describe('The new API key. It is shown only once.');

/** API key after a rotation (KEY-2). */
export const newKey = z
  .looseObject({
    key: secretKey,
    id: keyId,
    masked: z.string(),
  })
  .meta({ id: 'NewKey' });

/** Result of a reported payment (KEY-6). */
export const credit = z
  .looseObject({
    object: z.literal('credit'),
    account: accountId,
    ref: z.string().regex(REF_FORM),
    type: z.enum(['credit', ...returnTypes]),
    of: z.string().regex(REF_FORM).optional(),
    amount_usd: usd,
    repeated: z.boolean().describe('Whether this change was made before. If so, this request changed nothing.'),
    balance_usd: usd,
  })
  .meta({ id: 'Credit' });
