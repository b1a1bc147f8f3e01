import * as z from 'zod';
import { ACCOUNT_ID_FORM, ACCOUNT_ID_RULE } from '../../core/accounts/account-store.ts';
import type { JsonObject } from '../../core/json.ts';
import { REF_FORM, REF_RULE } from '../../core/ledger/credit.ts';
import { PICOS_PER_USD } from '../../core/money/usd.ts';
import { parseWith } from '../parse.ts';
import { usdAmount } from '../usd-amount.ts';

const accountMessage = `must be the id of an account: ${ACCOUNT_ID_RULE}`;
const refMessage = `must be the id of the payment: ${REF_RULE}`;

/** Any other field is refused by name (GEN-9). */
export const creditBody = z.strictObject({
  account: z.string(accountMessage).regex(ACCOUNT_ID_FORM, accountMessage),
  ref: z.string(refMessage).regex(REF_FORM, refMessage),
  amount_usd: usdAmount({ leastPicos: 1n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '12.50' }),
});

export type CreditBody = z.output<typeof creditBody>;

/** Throws the 400 that names the field. */
export const readCreditBody = (json: JsonObject | undefined): CreditBody => parseWith(creditBody, json);
