import { GatewayError } from '../core/errors/gateway-error.ts';
import { StoreError } from '../core/errors/store-error.ts';
import { type Account, balanceOf, heldOf } from '../core/ledger/ledger.ts';
import { formatUsd } from '../core/money/usd.ts';

/** Returns the result of `reading`. Throws 503 with `message` if the store fails. */
export const orUnavailable = async <T>(
  reading: Promise<T>,
  message = 'The account cannot be read now. Retry later.',
): Promise<T> => {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new GatewayError('service_unavailable', message, { cause });
  }
};

/** Account as its owner sees it (BILL-15): decimal strings, not rounded. */
export const toAccountObject = (account: Account) => ({
  id: account.id,
  status: account.status,
  balance_usd: formatUsd(balanceOf(account)),
  available_usd: formatUsd(account.availablePicos),
  held_usd: formatUsd(heldOf(account)),
  open_holds: account.holds.size,
});
