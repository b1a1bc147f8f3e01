import { utcDay } from '../clock.ts';
import { inDay } from './allowance.ts';
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
 * Returns the account in the month of the clock, with a counter of uncollected amounts that is not of a later day.
 * Returns the same object if the account is in that state already.
 */
export const beginMonth = (account: Account, nowMs: number): Account => {
  const month = monthOfWrite(account, nowMs);
  const today = utcDay(nowMs);
  const isAhead = account.uncollected !== undefined && account.uncollected.day > today;
  if (month === account.month && !isAhead) return account;
  const uncollected = isAhead ? inDay(account.uncollected, today) : account.uncollected;
  return { ...account, month, ...(uncollected && { uncollected }), version: account.version + 1 };
};
