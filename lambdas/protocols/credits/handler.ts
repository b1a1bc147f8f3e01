import * as z from 'zod';
import { ACCOUNT_ID_FORM, ACCOUNT_ID_RULE } from '../../core/accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type CreditDependencies,
  type CreditOrder,
  creditAccount,
  isReturnType,
  REF_FORM,
  REF_RULE,
} from '../../core/ledger/credit.ts';
import { returnTypes } from '../../core/ledger/credit-record.ts';
import { formatUsd, PICOS_PER_USD } from '../../core/money/usd.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { usdAmount } from '../optional-fields.ts';
import { parseWith } from '../parse.ts';
import { refusalText } from './refusal-text.ts';

const accountMessage = `must be the id of an account: ${ACCOUNT_ID_RULE}`;
const refMessage = `must be the id of the payment: ${REF_RULE}`;
const ofMessage = `must be the ref of the credit: ${REF_RULE}`;

/** Any other field gets an error that names it (GEN-9). A payment provider cannot report a debit. */
export const creditBody = z.strictObject({
  account: z.string(accountMessage).regex(ACCOUNT_ID_FORM, accountMessage),
  ref: z.string(refMessage).regex(REF_FORM, refMessage),
  amount_usd: usdAmount({ leastPicos: 1n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '12.50' }),
  type: z.enum(['credit', ...returnTypes]).optional(),
  of: z.string(ofMessage).regex(REF_FORM, ofMessage).optional(),
});

export type CreditBody = z.output<typeof creditBody>;

const reasons = {
  credit: 'top-up',
  refund: 'refund',
  chargeback: 'chargeback',
  chargeback_reversed: 'chargeback reversed',
} as const;

/** Throws the 400 that names the field. */
export const readCreditBody = (json: JsonObject | undefined): CreditBody => {
  const body = parseWith(creditBody, json);
  const { type = 'credit', of } = body;
  if (isReturnType(type) && of === undefined) {
    throw invalidRequest('of', `of: a ${type} needs the ref of its credit. Send it as of.`);
  }
  if (!isReturnType(type) && of !== undefined) {
    throw invalidRequest('of', 'of: a credit has no earlier credit. Remove of, or send the type of the change.');
  }
  return body;
};

const UNCERTAIN = 'The change may have been made. Send it again with the same ref: it is made once.';

/** POST /app/credits (KEY-6, KEY-7): a payment provider reports payments, refunds and chargebacks here. */
export const createCreditAccount =
  (deps: CreditDependencies): RouteHandler =>
  async (exchange) => {
    const { account: accountId, ref, type = 'credit', of, amount_usd } = readCreditBody(exchange.body?.json);
    const named = of === undefined ? {} : { of };
    const order: CreditOrder = { accountId, ref, type, ...named, amountPicos: amount_usd, reason: reasons[type] };
    const credited = await orUnavailable(creditAccount(deps, order), UNCERTAIN);
    if (credited.kind !== 'no-account') exchange.summary.accountId = accountId;
    if (!('account' in credited)) {
      const { code, field, text } = refusalText(credited, order);
      throw new GatewayError(code, `${field}: ${text}`, { param: field });
    }
    return json(200, {
      object: 'credit',
      account: accountId,
      ref,
      type,
      ...named,
      amount_usd: formatUsd(amount_usd),
      repeated: credited.kind === 'repeated',
      balance_usd: formatUsd(credited.balancePicos),
    });
  };
