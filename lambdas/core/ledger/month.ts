import { utcDay } from '../clock.ts';
import { parseRequestId } from '../request-id.ts';
import { requestIdOf } from './hold.ts';
import { type Account, balanceOf } from './ledger.ts';

/** Sums of an account at the end of a month. Written once, and never changed. All amounts are pico-USD. */
export interface MonthClosing {
  /** Calendar month in UTC, such as `2026-11`. */
  readonly month: string;
  readonly creditedPicos: bigint;
  readonly returnedPicos: bigint;
  readonly spentPicos: bigint;
  /** Open holds at the end of the month. They are not part of the balance. */
  readonly heldPicos: bigint;
  /** Set if statements start after this closing: Unix ms of the write, which covers all earlier changes. */
  readonly startMs?: number;
}

/** Sums of the charges of one model. */
export interface ModelCharges {
  /** Undefined if the records name no model. */
  readonly model: string | undefined;
  readonly requests: number;
  readonly amountPicos: bigint;
}

/** Charges of a month by model, summed in one read or in several. */
export interface MonthCharges {
  readonly models: readonly ModelCharges[];
  /** Hold id before which the next read continues. Undefined: the sums are complete. */
  readonly beforeHoldId?: string | undefined;
}

/** Form of a calendar month. */
export const MONTH_FORM = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Whether a text names a calendar month, such as `2026-11`. */
export const isMonth = (text: string): boolean => MONTH_FORM.test(text);

/** Returns the calendar month in UTC. Comparing two of these texts compares the months. */
export const monthOf = (nowMs: number): string => utcDay(nowMs).slice(0, -3);

/** Returns the first Unix ms of a month. */
export const startOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);

export const monthBefore = (month: string): string => monthOf(startOf(month) - 1);

/** No month has more than 31 days. */
const LONGEST_MS = 31 * 86_400_000;

export const monthAfter = (month: string): string => monthOf(startOf(month) + LONGEST_MS);

/** Returns the month to which a write of the account belongs: that of the account, or the clock's if it is later. */
export const monthOfWrite = ({ month = '' }: Account, nowMs: number): string => {
  const present = monthOf(nowMs);
  return present > month ? present : month;
};

/**
 * Returns the closings that the first write in a later month stores with it. Empty if that month has begun in the
 * account already. An account of an earlier release has no month: its statements start with this write.
 */
export const closingsBefore = (account: Account, nowMs: number): readonly MonthClosing[] => {
  const present = monthOfWrite(account, nowMs);
  if (account.month === present) return [];
  const last = monthBefore(present);
  // The second closing has the holds of the month that is over, in which no sum changed.
  const months = account.month === undefined || account.month === last ? [last] : [account.month, last];
  return months.map((month) => ({
    month,
    creditedPicos: account.creditedPicos,
    returnedPicos: account.returnedPicos,
    spentPicos: account.spentPicos,
    heldPicos: heldAtEnd(account, month),
    ...(account.month === undefined && { startMs: nowMs }),
  }));
};

/** Holds of later requests are left out. Since the end of the month, no hold was closed. */
const heldAtEnd = (account: Account, month: string): bigint => {
  const endMs = startOf(monthAfter(month));
  let held = balanceOf(account) - account.availablePicos;
  for (const [holdId, { amountPicos }] of account.holds) {
    const atMs = parseRequestId(requestIdOf(holdId))?.atMs;
    if (atMs !== undefined && atMs >= endMs) held -= amountPicos;
  }
  return held;
};
