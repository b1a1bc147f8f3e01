import { type Account, balanceOf, heldOf } from '../../core/ledger/account.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { admissionOf, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';

/** GET /api/account (BILL-15): decimal strings, nothing rounded. */
export const createGetAccount =
  (readAccount: (accountId: string) => Promise<Account | undefined>): RouteHandler =>
  async (exchange) => {
    const account = await orUnavailable(readAccount(admissionOf(exchange).accountId));
    if (!account) throw new Error('the account of a valid key is missing');
    return json(200, {
      id: account.id,
      status: account.status,
      balance_usd: formatUsd(balanceOf(account)),
      available_usd: formatUsd(account.availablePicos),
      held_usd: formatUsd(heldOf(account)),
      open_holds: account.holds.size,
    });
  };
