import type { Account } from '../../core/ledger/ledger.ts';
import { admissionOf, json, type RouteHandler } from '../../http/exchange.ts';
import { toAccountObject } from '../account-object.ts';
import { orUnavailable } from '../account-reads.ts';

/** GET /api/account (BILL-15). */
export const createGetAccount =
  (readAccount: (accountId: string) => Promise<Account | undefined>): RouteHandler =>
  async (exchange) => {
    const account = await orUnavailable(readAccount(admissionOf(exchange).accountId));
    if (!account) throw new Error('the account of a valid key is missing');
    return json(200, toAccountObject(account));
  };
