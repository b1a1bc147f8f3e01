import * as z from 'zod';
import { ACCOUNT_ID_FORM, ACCOUNT_ID_RULE } from '../../core/accounts/account-store.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { type CreditDependencies, creditAccount, REF_FORM, REF_RULE } from '../../core/ledger/credit.ts';
import { formatUsd, PICOS_PER_USD } from '../../core/money/usd.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { usdAmount } from '../optional-fields.ts';
import { parseWith } from '../parse.ts';

const accountMessage = `must be the id of an account: ${ACCOUNT_ID_RULE}`;
const refMessage = `must be the id of the payment: ${REF_RULE}`;

/** Any other field gets an error that names it (GEN-9). */
export const creditBody = z.strictObject({
  account: z.string(accountMessage).regex(ACCOUNT_ID_FORM, accountMessage),
  ref: z.string(refMessage).regex(REF_FORM, refMessage),
  amount_usd: usdAmount({ leastPicos: 1n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '12.50' }),
});

export type CreditBody = z.output<typeof creditBody>;

/** Throws the 400 that names the field. */
export const readCreditBody = (json: JsonObject | undefined): CreditBody => parseWith(creditBody, json);

const UNCERTAIN = 'The payment may have been credited. Send it again with the same ref: it is credited once.';

/** POST /app/credits (KEY-6): a payment provider reports a payment here. */
export const createCreditAccount =
  (deps: CreditDependencies): RouteHandler =>
  async (exchange) => {
    const { account: accountId, ref, amount_usd: amountPicos } = readCreditBody(exchange.body?.json);
    const order = { accountId, ref, amountPicos, reason: 'top-up' };
    const credited = await orUnavailable(creditAccount(deps, order), UNCERTAIN);
    if (credited.kind === 'no-account') throw noAccount();
    exchange.summary.accountId = accountId;
    if (credited.kind === 'other-amount') throw mismatch(credited.amountPicos);
    return json(200, {
      object: 'credit',
      account: accountId,
      ref,
      amount_usd: formatUsd(amountPicos),
      repeated: credited.kind === 'repeated',
      balance_usd: formatUsd(credited.balancePicos),
    });
  };

const noAccount = (): GatewayError =>
  new GatewayError('not_found', 'account: there is no account with this id. Nothing was credited. Check the id.', {
    param: 'account',
  });

const mismatch = (firstPicos: bigint): GatewayError =>
  new GatewayError(
    'credit_mismatch',
    `amount_usd: this ref was already credited with ${formatUsd(firstPicos)} USD. Nothing was credited. Use a new ref for a new payment.`,
    { param: 'amount_usd' },
  );
