import * as z from 'zod';
import { ACCOUNT_ID_FORM } from '../../core/accounts/account-id.ts';
import type { JsonObject } from '../../core/json.ts';
import { isCreditRef, REF_FORM } from '../../core/ledger/credit-account.ts';
import { PICOS_PER_USD } from '../../core/money/usd.ts';
import { parseWith } from '../parse.ts';
import { usdAmount } from '../usd-amount.ts';

const accountMessage =
  'must be the id of an account: 1 to 64 letters, digits and . _ @ : + -, of which the first is a letter or digit';
const refMessage = 'must be the id of the payment: 1 to 200 visible ASCII characters, without # and ?, and not "start"';

/** Any other field is refused by name (GEN-9). */
export const creditBody = z.strictObject({
  account: z.string(accountMessage).regex(ACCOUNT_ID_FORM, accountMessage),
  ref: z.string(refMessage).regex(REF_FORM, refMessage).refine(isCreditRef, refMessage),
  amount_usd: usdAmount({ leastPicos: 1n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '12.50' }),
});

export type CreditBody = z.output<typeof creditBody>;

/** Throws the 400 that names the field. */
export const readCreditBody = (json: JsonObject | undefined): CreditBody => parseWith(creditBody, json);
