import { type AllowanceUse, countUncollected } from './allowance.ts';
import { closeInCap } from './caps.ts';
import type { Account, ChargeRecord } from './ledger.ts';
import { monthOfWrite } from './month.ts';

/**
 * Whether usage sums may have passed the id of a charge when its hold is closed (BILL-23). That is so after a clock was
 * set back, and for requests that run long.
 */
export const isLate = (
  { countedToId = '' }: Account,
  { outcome, holdId }: Pick<ChargeRecord, 'outcome' | 'holdId'>,
): boolean => outcome === 'settled' && holdId < countedToId;

/**
 * Returns the account after the write that closes a hold and moves its money as the record says. Every store follows
 * this function. Returns undefined if no hold of that amount is open under the record's id, or a newer release wrote
 * it. `nowMs` is the caller's clock in Unix ms. It decides the month of the write, and the day of an uncollected amount
 * (BILL-21). The charge counts in the period of its hold (KEY-9).
 */
export const closeHold = (
  account: Account,
  record: Pick<ChargeRecord, 'holdId' | 'amountPicos' | keyof AllowanceUse>,
  holdAmountPicos: bigint,
  nowMs: number,
): Account | undefined => {
  const hold = account.holds.get(record.holdId);
  if (hold?.amountPicos !== holdAmountPicos || hold.isNewer) return undefined;
  const holds = new Map(account.holds);
  holds.delete(record.holdId);
  const caps = closeInCap(account.caps, hold.cap, holdAmountPicos - record.amountPicos);
  return {
    ...account,
    availablePicos: account.availablePicos + holdAmountPicos - record.amountPicos,
    spentPicos: account.spentPicos + record.amountPicos,
    month: monthOfWrite(account, nowMs),
    version: account.version + 1,
    holds,
    caps,
    ...countUncollected(account, record, nowMs),
  };
};
