import type { Call, Item, Tables } from './item.ts';

/** Statements of the account: month of its sums, number of its writes, and the money that it returned. */
export interface Months {
  month: number;
  version: number;
  returned: number;
}

export interface Sums {
  credited: number;
  returned: number;
  spent: number;
}

/** Statements, and what was really committed. Only configurations of months have them. */
export interface Books {
  /** Sums at the end of a month, by month. */
  closings: Record<number, Sums>;
  /** Changes of the sums, by the month of the account when they were written. */
  booked: Record<number, Sums>;
  /** Whether a write belongs to an earlier month than the clock of its caller. */
  misplaced: boolean;
}

const NONE: Sums = { credited: 0, returned: 0, spent: 0 };

export const sumsOf = ({ credited, spent, months }: Item): Sums => ({
  credited,
  returned: months?.returned ?? 0,
  spent,
});

const plus = (one: Sums, other: Sums, sign = 1): Sums => ({
  credited: one.credited + sign * other.credited,
  returned: one.returned + sign * other.returned,
  spent: one.spent + sign * other.spent,
});

const isEqual = (one: Sums, other: Sums): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The account as the first write in a later month computes it. */
export const inMonth = (item: Item, day: number): Item => ({
  ...item,
  ...(item.months && { months: { ...item.months, month: Math.max(item.months.month, day) } }),
});

/** Closes the month of the earlier state, if the account is in a later one. A closing is written once. */
export const close = (books: Books, before: Item, after: Item): void => {
  if (!before.months || !after.months || before.months.month >= after.months.month) return;
  books.closings[before.months.month] ??= sumsOf(before);
};

/** Books the change of a write. `tables` is the state after it. */
export const book = ({ item, books }: Tables, before: Sums, call: Call): void => {
  if (!item.months || !books) return;
  const change = plus(sumsOf(item), before, -1);
  if (isEqual(change, NONE)) return;
  const { month } = item.months;
  books.booked[month] = plus(books.booked[month] ?? NONE, change);
  if ('day' in call && call.day !== undefined && month < call.day) books.misplaced = true;
};

type Dated = { readonly month?: number };

const creditOf = ({ credits, returns, others }: Tables, month: number): Pick<Sums, 'credited' | 'returned'> => {
  const of = <T extends Dated>(records: Record<string, T>): readonly T[] =>
    Object.values(records).filter((record) => record.month === month);
  const paid = of(credits).reduce((sum, { amount }) => sum + amount, 0);
  const taken = of(returns).reduce((sum, { amount }) => sum + amount, 0);
  const changed = of(others).reduce((sum, { change }) => sum + change, 0);
  return { credited: paid - taken + changed, returned: taken - changed };
};

/** Returns what is wrong with the statements. */
export const monthsProblemOf = (tables: Tables): string | undefined => {
  const { item, books } = tables;
  if (!item.months || !books) return undefined;
  if (books.misplaced) return 'a write belongs to a month before its clock';
  let all = NONE;
  let closing = NONE;
  for (let month = 0; month <= item.months.month; month += 1) {
    const booked = books.booked[month] ?? NONE;
    all = plus(all, booked);
    closing = books.closings[month] ?? closing;
    if (month < item.months.month && !isEqual(closing, all)) return 'a statement is not what was committed';
    const { credited, returned } = creditOf(tables, month);
    if (credited !== booked.credited || returned !== booked.returned) return 'a change is listed in another month';
  }
  if (!isEqual(all, sumsOf(item))) return 'the months do not add up to the account';
  return Object.keys(books.closings).some((month) => Number(month) >= (item.months?.month ?? 0))
    ? 'a month is closed that is not over'
    : undefined;
};
