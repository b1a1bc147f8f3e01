import { GatewayError } from '../../core/errors/gateway-error.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import { type Account, balanceOf, heldOf } from '../../core/ledger/account.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { admissionOf, json, type RouteHandler } from '../../http/exchange.ts';

/** GET /api/account (BILL-15): decimal strings, nothing rounded. */
export const createGetAccount =
  (readAccount: (accountId: string) => Promise<Account | undefined>): RouteHandler =>
  async (exchange) => {
    const account = await readAccount(admissionOf(exchange).accountId).catch((cause: unknown) => {
      if (!(cause instanceof StoreError)) throw cause;
      throw new GatewayError('service_unavailable', 'The account cannot be read at the moment. Try again later.', {
        retryAfterSeconds: 30,
        cause,
      });
    });
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
