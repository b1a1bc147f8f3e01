import { type Clock, inTime } from '../clock.ts';
import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import type { StoredAllowance } from '../ledger/allowance.ts';
import type { PlacedHold } from '../ledger/hold.ts';
import { type MonthClosing, monthBefore, monthOf } from '../ledger/month.ts';
import type { LedgerRecords } from '../ledger/records.ts';
import type { KeyStore } from './key-store.ts';

/** Allowance of the caller's account. */
export interface DailyAllowance {
  /** Part that follows from the account's charges, in pico-USD. 0 if none is stored. */
  readonly picos: bigint;
  /**
   * Computes and stores the part if it is a day old. Called beside the write of a charge. Undefined if there is nothing to do.
   * Best effort: waits for a short time and never rejects.
   */
  readonly refresh: (account: PlacedHold['account'], leastPicos: bigint) => Promise<void> | undefined;
}

export interface AllowanceDependencies {
  readonly keys: KeyStore;
  readonly records: Pick<LedgerRecords, 'closings'>;
  readonly clock: Clock;
}

/** The allowance is this fraction, 5 %, of the charges of this month and the last. */
const CHARGES_PER_ALLOWANCE = 20n;
const MS_PER_DAY = 86_400_000;
/** Age from which the stored part no longer counts: this month and the last have other charges by then. */
const STALE_MS = 62 * MS_PER_DAY;
/** Longest time that a settlement waits for the refresh, in ms. */
const REFRESH_LIMIT_MS = 500;

/** Returns the allowance of an account that called with the API key of this hash. */
export const dailyAllowance = (
  deps: AllowanceDependencies,
  { accountId, hash }: { readonly accountId: string; readonly hash: string },
  stored: StoredAllowance | undefined,
): DailyAllowance => {
  const nowMs = deps.clock.now();
  const ageMs = stored ? Math.abs(nowMs - stored.atMs) : Number.POSITIVE_INFINITY;
  const storedPicos = stored && ageMs < STALE_MS ? stored.picos : 0n;
  return {
    picos: storedPicos,
    refresh: (account, leastPicos) => {
      // The charges of a new account cannot raise its allowance. Without the first write of the month, no sum is closed.
      const isPossible = account.spentPicos > leastPicos * CHARGES_PER_ALLOWANCE && account.month === monthOf(nowMs);
      if (ageMs < MS_PER_DAY || !isPossible) return undefined;
      const refreshing = refresh(deps, { accountId, hash, nowMs, spentPicos: account.spentPicos });
      return inTime(
        deps.clock,
        REFRESH_LIMIT_MS,
        refreshing.catch(() => undefined),
      );
    },
  };
};

/**
 * Gives a new API key the newest stored part of the account's other keys. Without it, a key that cannot charge yet keeps
 * the least allowance. Best effort: the next refresh of another key does the same.
 */
export const inheritAllowance = async (
  keys: Pick<KeyStore, 'readMany' | 'setAllowance'>,
  others: readonly string[],
  hash: string,
): Promise<void> => {
  try {
    const records = await keys.readMany(others);
    const stored = [...records.values()].flatMap(({ allowance }) => allowance ?? []);
    const newest = stored.toSorted((one, other) => other.atMs - one.atMs)[0];
    if (newest) await keys.setAllowance(hash, newest);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
};

interface Refresh {
  readonly accountId: string;
  readonly hash: string;
  readonly nowMs: number;
  readonly spentPicos: bigint;
}

const refresh = async (
  { keys, records }: AllowanceDependencies,
  { accountId, hash, nowMs, spentPicos }: Refresh,
): Promise<void> => {
  const lastMonth = monthBefore(monthOf(nowMs));
  const [closings, { first, named }] = await Promise.all([
    records.closings(accountId, lastMonth, 2),
    keys.ring(accountId),
  ]);
  const picos = (spentPicos - spentBefore(closings, lastMonth)) / CHARGES_PER_ALLOWANCE;
  const hashes = new Set([hash, ...[...(first ? [first] : []), ...named].map((key) => key.hash)]);
  await forEachConcurrent([...hashes], (one) => keys.setAllowance(one, { picos, atMs: nowMs }));
};

/**
 * Returns the charges before a month. `closings` are the two newest through that month. If statements start after the
 * month before, the earlier charges of the account count as older.
 */
const spentBefore = (closings: readonly MonthClosing[], month: string): bigint =>
  closings.find((closing) => closing.month < month || closing.startMs !== undefined)?.spentPicos ?? 0n;
