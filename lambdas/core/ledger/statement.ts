import type { Clock } from '../clock.ts';
import { firstIdAt } from '../request-id.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { CreditRecord } from './credit-record.ts';
import { type Account, heldOf, type LedgerStore } from './ledger.ts';
import { type ModelCharges, type MonthCharges, type MonthClosing, monthAfter, startOf } from './month.ts';
import type { LedgerRecords } from './records.ts';

export interface StatementDependencies {
  readonly store: Pick<LedgerStore, 'closeMonths'>;
  readonly records: Pick<
    LedgerRecords,
    'closings' | 'firstClosing' | 'creditsOfMonth' | 'readCharges' | 'keepCharges' | 'listRecords'
  >;
  readonly clock: Clock;
  /** Random number from 0 up to 1, which spreads the retries of many callers. */
  readonly random: () => number;
}

/**
 * Statement of one calendar month in UTC. All amounts are pico-USD: opening + credits - returns - charges = closing.
 */
export interface Statement {
  readonly month: string;
  /** `closed`: the month is over, and its statement never changes. */
  readonly status: 'open' | 'closed';
  readonly openingPicos: bigint;
  readonly creditsPicos: bigint;
  /** Refunds, chargebacks and debits, less reversals. */
  readonly returnsPicos: bigint;
  readonly chargesPicos: bigint;
  readonly closingPicos: bigint;
  /** Open holds at the end of the month, or now. They are not part of the closing balance. */
  readonly heldPicos: bigint;
  /** Changes of the credit in the month, the oldest first. */
  readonly changes: readonly CreditRecord[];
  /** Charges whose records have a time in the month, by model. */
  readonly charges: readonly ModelCharges[];
  /** Whether `charges` has all records of the month. The newest records are summed first. */
  readonly chargesComplete: boolean;
  /**
   * Charges of the month less `charges`. Above 0: charges that were recorded in another month. Below 0: charges of this
   * month's records that were applied in another month. Undefined while `charges` is not complete.
   */
  readonly otherMonthPicos: bigint | undefined;
}

export type StatementReply =
  | { readonly kind: 'statement'; readonly statement: Statement }
  /** The month has not begun. */
  | { readonly kind: 'future'; readonly presentMonth: string }
  /** Statements of the account start later. */
  | { readonly kind: 'before-first'; readonly firstMonth: string }
  | { readonly kind: 'no-account' };

type Sums = Pick<MonthClosing, 'creditedPicos' | 'returnedPicos' | 'spentPicos'>;

const ZERO: Sums = { creditedPicos: 0n, returnedPicos: 0n, spentPicos: 0n };

/**
 * Returns the statement of a month, such as `2026-11`. Closes months that are over first, so that a statement of a
 * closed month never changes. Reads the account, at most two closings, and at most `RECORDS_MAX` records. For a closed
 * month with more records, further reads continue. Throws StoreError.
 */
export const readStatement = async (
  deps: StatementDependencies,
  accountId: string,
  month: string,
): Promise<StatementReply> => {
  const { store, records, clock } = deps;
  const account = await retryUntilDefinite(deps, () => store.closeMonths(accountId, clock.now()));
  if (!account) return { kind: 'no-account' };
  const { month: presentMonth = month } = account;
  if (month > presentMonth) return { kind: 'future', presentMonth };
  const [newest, older] = await records.closings(accountId, month, 2);
  const isOpen = month === presentMonth;
  const isBefore = !isOpen && (newest === undefined || (newest.month === month && newest.startMs !== undefined));
  if (isBefore) return { kind: 'before-first', firstMonth: await firstMonthOf(deps, account) };
  const opening = newest?.month === month ? older : newest;
  const closing = isOpen ? account : (newest ?? ZERO);
  const period = { accountId, month, isOpen, fromMs: startMsOf(month, opening) };
  const [changes, charges] = await Promise.all([records.creditsOfMonth(accountId, month), chargesOf(deps, period)]);
  return {
    kind: 'statement',
    statement: {
      month,
      status: isOpen ? 'open' : 'closed',
      ...linesOf(opening ?? ZERO, closing, charges),
      heldPicos: isOpen ? heldOf(account) : heldAt(newest, month),
      changes: changes.toSorted((one, other) => one.at - other.at || (one.ref < other.ref ? -1 : 1)),
    },
  };
};

const linesOf = (opening: Sums, closing: Sums, { models, beforeHoldId }: MonthCharges) => {
  const chargesPicos = closing.spentPicos - opening.spentPicos;
  const chargesComplete = beforeHoldId === undefined;
  const returnsPicos = closing.returnedPicos - opening.returnedPicos;
  return {
    openingPicos: opening.creditedPicos - opening.spentPicos,
    creditsPicos: closing.creditedPicos - opening.creditedPicos + returnsPicos,
    returnsPicos,
    chargesPicos,
    closingPicos: closing.creditedPicos - closing.spentPicos,
    charges: models,
    chargesComplete,
    otherMonthPicos: chargesComplete ? models.reduce((left, sum) => left - sum.amountPicos, chargesPicos) : undefined,
  };
};

/** A month without a closing of its own has no write, and therefore no open hold that another month closed. */
const heldAt = (closing: MonthClosing | undefined, month: string): bigint =>
  closing?.month === month ? closing.heldPicos : 0n;

/** Charges before the start of the statements are part of the opening balance. */
const startMsOf = (month: string, opening: MonthClosing | undefined): number =>
  Math.max(startOf(month), opening && monthAfter(opening.month) === month ? (opening.startMs ?? 0) : 0);

const firstMonthOf = async ({ records }: StatementDependencies, account: Account): Promise<string> => {
  const first = await records.firstClosing(account.id);
  if (!first) return account.month ?? '';
  return first.startMs === undefined ? first.month : monthAfter(first.month);
};

interface Period {
  readonly accountId: string;
  readonly month: string;
  readonly isOpen: boolean;
  /** Unix ms from which records count. */
  readonly fromMs: number;
}

/**
 * Longest time from a request to its charge record, in ms: HOLD_GRACE_SECONDS and VIDEO_HOLD_SECONDS allow at most
 * three days together. The read starts that long before the month.
 */
const REQUEST_MS_MAX = 3 * 86_400_000;

const PAGE = 1_000;

/**
 * Limit on the records of one read. They are at most about 5 MB of the table, or 1,250 read units. A partition, which
 * the holds of the account use too, has 3,000 a second:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html (2026-11-26)
 */
const RECORDS_MAX = 5 * PAGE;

/**
 * Charges of a closed month are stored, and each read adds to them until they are complete. After that, a record that is
 * written late has a time in that month too, and would change them.
 */
const chargesOf = async (deps: StatementDependencies, period: Period): Promise<MonthCharges> => {
  const { accountId, month, isOpen } = period;
  if (isOpen) return addCharges(deps, period, { models: [] });
  const kept = await deps.records.readCharges(accountId, month);
  if (kept && kept.beforeHoldId === undefined) return kept;
  const charges = await addCharges(deps, period, kept ?? { models: [] });
  return deps.records.keepCharges(accountId, month, charges, kept?.beforeHoldId);
};

/** Returns charges with up to `RECORDS_MAX` older records added. */
const addCharges = async (
  { records }: StatementDependencies,
  { accountId, month, fromMs }: Period,
  before: MonthCharges,
): Promise<MonthCharges> => {
  const sums = new Map(before.models.map((sum) => [sum.model, sum]));
  const endMs = startOf(monthAfter(month));
  const fromHoldId = firstIdAt(fromMs - REQUEST_MS_MAX);
  let beforeHoldId = before.beforeHoldId ?? firstIdAt(endMs);
  for (let read = 0; read < RECORDS_MAX; read += PAGE) {
    const page = await records.listRecords(accountId, { fromHoldId, beforeHoldId, limit: PAGE });
    for (const { outcome, at, model, amountPicos } of page.records) {
      if (outcome !== 'settled' || at < fromMs || at >= endMs) continue;
      const { requests, amountPicos: sum } = sums.get(model) ?? { requests: 0, amountPicos: 0n };
      sums.set(model, { model, requests: requests + 1, amountPicos: sum + amountPicos });
    }
    const last = page.records.at(-1);
    if (!page.more || !last) return { models: byModel(sums) };
    beforeHoldId = last.holdId;
  }
  return { models: byModel(sums), beforeHoldId };
};

const byModel = (sums: ReadonlyMap<string | undefined, ModelCharges>): readonly ModelCharges[] =>
  [...sums.values()].toSorted((one, other) => ((one.model ?? '') < (other.model ?? '') ? -1 : 1));
