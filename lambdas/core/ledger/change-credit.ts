import { type CreditRecord, changeOf } from './credit-record.ts';
import type { Account } from './ledger.ts';
import { monthOfWrite } from './month.ts';

type Change = Pick<CreditRecord, 'type' | 'amountPicos'>;

/**
 * Change of the money that the account returned, in pico-USD: a refund, a chargeback or a debit adds its amount, and a
 * reversal subtracts it.
 */
export const accountReturnOf = (change: Change): bigint => (change.type === 'credit' ? 0n : -changeOf(change));

/** Returns the account after the write of a change of its credit. Every store follows this function. */
export const changeCredit = (account: Account, change: Change, nowMs: number): Account => ({
  ...account,
  availablePicos: account.availablePicos + changeOf(change),
  creditedPicos: account.creditedPicos + changeOf(change),
  returnedPicos: account.returnedPicos + accountReturnOf(change),
  month: monthOfWrite(account, nowMs),
  version: account.version + 1,
});

/**
 * Returns the account in the month of the clock. Returns the same object if that month has begun in the account
 * already.
 */
export const beginMonth = (account: Account, nowMs: number): Account => {
  const month = monthOfWrite(account, nowMs);
  return month === account.month ? account : { ...account, month, version: account.version + 1 };
};
