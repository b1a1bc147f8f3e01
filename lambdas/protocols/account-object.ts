import { type Account, balanceOf, heldOf } from '../core/ledger/ledger.ts';
import { formatUsd } from '../core/money/usd.ts';

/** An account as its owner sees it (BILL-15): decimal strings, nothing rounded. */
export const toAccountObject = (account: Account) => ({
  id: account.id,
  status: account.status,
  balance_usd: formatUsd(balanceOf(account)),
  available_usd: formatUsd(account.availablePicos),
  held_usd: formatUsd(heldOf(account)),
  open_holds: account.holds.size,
});
