import { formatUsd } from '../money/usd.ts';
import { accountReturnOf } from './change-credit.ts';
import type { CreditRecord } from './credit-record.ts';
import type { Account } from './ledger.ts';
import type { MonthClosing } from './month.ts';

export type StatementInvariant =
  /** The returned sum of the account, and of each closing, is that of the records up to its month. */
  | 'returned'
  /** No closing has later sums than the next one or the account, which is in a later month. */
  | 'closings-in-order';

export interface StatementProblem {
  readonly invariant: StatementInvariant;
  readonly message: string;
  /** Difference of the sums in pico-USD, if sums differ. */
  readonly differencePicos?: bigint;
}

type Sums = Pick<MonthClosing, 'creditedPicos' | 'returnedPicos' | 'spentPicos'> & { readonly month: string };

/**
 * Compares the closings of an account with its sums and its records of credit. Records of earlier releases have no
 * month, and no part in the returned sum.
 */
export const statementProblems = (
  account: Account,
  closings: readonly MonthClosing[],
  credits: readonly CreditRecord[],
): readonly StatementProblem[] => {
  const present: Sums = { ...account, month: account.month ?? '' };
  const inOrder: readonly Sums[] = [...closings.toSorted((one, other) => (one.month < other.month ? -1 : 1)), present];
  const takenEarlier = credits
    .filter(({ month }) => month === undefined)
    .reduce((sum, record) => sum + accountReturnOf(record), 0n);
  return [
    ...inOrder.flatMap((sums) => returnedProblem(sums, credits)),
    ...inOrder.flatMap((sums, index) => orderProblem(inOrder[index - 1], sums, takenEarlier)),
  ];
};

const returnedProblem = ({ month, returnedPicos }: Sums, credits: readonly CreditRecord[]): StatementProblem[] => {
  const expected = credits
    .filter((record) => record.month !== undefined && record.month <= month)
    .reduce((sum, record) => sum + accountReturnOf(record), 0n);
  const differencePicos = returnedPicos - expected;
  if (differencePicos === 0n) return [];
  const message = `through ${month} returned is ${formatUsd(returnedPicos)} USD, its records are ${formatUsd(expected)} USD`;
  return [{ invariant: 'returned', message, differencePicos }];
};

/** `takenEarlier` was taken by an earlier release, which changes the credited sum only. Pico-USD. */
const orderProblem = (before: Sums | undefined, after: Sums, takenEarlier: bigint): StatementProblem[] => {
  if (!before) return [];
  const isInOrder =
    before.month < after.month &&
    before.spentPicos <= after.spentPicos &&
    before.creditedPicos + before.returnedPicos <= after.creditedPicos + after.returnedPicos + takenEarlier;
  if (isInOrder) return [];
  const message = `the closing of ${before.month} has later sums than ${after.month || 'an account without a month'}`;
  return [{ invariant: 'closings-in-order', message }];
};
