import { type Clock, utcDay } from '../clock.ts';
import { StoreError } from '../errors/store-error.ts';
import { firstIdAt, timeOfId } from '../request-id.ts';
import type { LedgerStore } from './ledger.ts';
import type { LedgerRecords } from './records.ts';
import {
  type CellSums,
  createDaySums,
  createKeySums,
  KEYS_PERIOD,
  type UsageCell,
  type UsageSums,
} from './usage-sums.ts';

export interface SummaryDependencies {
  readonly store: Pick<LedgerStore, 'readAccount' | 'readRecord'>;
  readonly records: Pick<LedgerRecords, 'listRecords' | 'usageSums' | 'countTo' | 'lateCharges' | 'keepUsageSums'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Period with its stored sums. It has the requests with ids from `startId` up to `endId`. */
export interface Period {
  readonly name: string;
  readonly startId: string;
  readonly endId: string;
  readonly kept: UsageSums | undefined;
  readonly createSums: (cells?: readonly UsageCell[]) => CellSums;
}

/** Returns the id up to which the stored sums cover the period. */
export const positionOf = ({ startId, endId, kept }: Period): string => (kept ? (kept.fromId ?? endId) : startId);

/** Returns the sums to store after those of the period. They cover it up to an id. */
export const nextSums = (
  { name, endId, kept }: Period,
  cells: readonly UsageCell[],
  positionId: string,
): UsageSums => ({
  period: name,
  cells,
  revision: (kept?.revision ?? 0) + 1,
  ...(positionId < endId && { fromId: positionId }),
});

/** Waits for a write that the next call makes if the store fails now. */
export const ignoreStoreError = async (write: Promise<unknown>): Promise<void> => {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
};

const DAY_MS = 86_400_000;

/** Returns the UTC days from the first to the last one. */
export const daysBetween = (fromDay: string, toDay: string): readonly string[] => {
  const fromMs = Date.parse(fromDay);
  const length = (Date.parse(toDay) - fromMs) / DAY_MS + 1;
  return Array.from({ length }, (_, index) => utcDay(fromMs + index * DAY_MS));
};

/** Returns the UTC day of a hold. Undefined for an id of another form. */
export const dayOfId = (holdId: string): string | undefined => {
  const atMs = timeOfId(holdId);
  return atMs === undefined ? undefined : utcDay(atMs);
};

/** Reads the stored sums of the UTC days from the first to the last one. Throws StoreError. */
export const readDayPeriods = async (
  { records }: SummaryDependencies,
  accountId: string,
  { fromDay, toDay }: { readonly fromDay: string; readonly toDay: string },
): Promise<readonly Period[]> => {
  const kept = new Map((await records.usageSums(accountId, fromDay, toDay)).map((sums) => [sums.period, sums]));
  return daysBetween(fromDay, toDay).map((day) => {
    const startMs = Date.parse(day);
    return {
      name: day,
      startId: firstIdAt(startMs),
      endId: firstIdAt(startMs + DAY_MS),
      kept: kept.get(day),
      createSums: createDaySums,
    };
  });
};

/** Sorts after every id. */
const END = '~';

/** Reads the stored sums by API key. Throws StoreError. */
export const readKeysPeriod = async (deps: SummaryDependencies, accountId: string): Promise<Period> => {
  const [kept] = await deps.records.usageSums(accountId, KEYS_PERIOD, KEYS_PERIOD);
  const startId = kept ? '' : await firstKeyedId(deps, accountId);
  return { name: KEYS_PERIOD, startId, endId: END, kept, createSums: createKeySums };
};

/** Records that one step of the search reads, and all its steps at most. */
const SAMPLE = 20;
export const SEARCH_MAX = 500;

/**
 * Returns an id before the first charged request whose record has its API key. Every release since has recorded it, so a
 * search by halves skips a long history. Starts a day earlier, because processes of two releases can run together.
 */
export const firstKeyedId = async (
  { records, clock }: Pick<SummaryDependencies, 'records' | 'clock'>,
  accountId: string,
): Promise<string> => {
  let lowMs = 0;
  let highMs = clock.now();
  while (highMs - lowMs > DAY_MS) {
    const middleMs = Math.floor((lowMs + highMs) / 2);
    const page = await records.listRecords(accountId, { beforeHoldId: firstIdAt(middleMs), limit: SAMPLE });
    const charged = page.records.filter(({ outcome }) => outcome === 'settled');
    const isUnkeyed = charged.length > 0 && charged.every(({ keyId }) => keyId === undefined);
    if (page.records.length === 0 || isUnkeyed) lowMs = middleMs;
    else highMs = middleMs;
  }
  return firstIdAt(lowMs - DAY_MS);
};
