import { countLateCharges } from './late-charges.ts';
import { RECORDS_MAX, readPeriods } from './read-periods.ts';
import { readDayPeriods, readKeysPeriod, SEARCH_MAX, type SummaryDependencies } from './usage-periods.ts';
import { KEYS_PERIOD, type UsageCell } from './usage-sums.ts';

export interface DaySummaries {
  /** Cells by UTC day. A day without charged requests has none. */
  readonly days: ReadonlyMap<string, readonly UsageCell[]>;
  /** Days whose requests were not all read. The next call continues. */
  readonly incompleteDays: readonly string[];
}

/**
 * Sums the charged requests of each day (BILL-23). The newest requests are read by each call. The sums of the others are
 * stored, so that each record is read once. One call reads at most 5,000 records. Undefined without an account. Throws
 * StoreError.
 */
export const summarizeDays = async (
  deps: SummaryDependencies,
  accountId: string,
  range: { readonly fromDay: string; readonly toDay: string },
): Promise<DaySummaries | undefined> => {
  const account = await deps.store.readAccount(accountId);
  if (!account) return undefined;
  await countLateCharges(deps, accountId);
  const periods = await readPeriods(deps, account, await readDayPeriods(deps, accountId, range));
  return {
    days: new Map([...periods].map(([day, { cells }]) => [day, cells])),
    incompleteDays: [...periods].flatMap(([day, { isComplete }]) => (isComplete ? [] : [day])),
  };
};

export interface KeySpend {
  /** Pico-USD of charged requests by the public id of the API key, also of replaced keys. */
  readonly picos: ReadonlyMap<string, bigint>;
  /** Whether every request is included. If not, the next call continues. */
  readonly isComplete: boolean;
}

/**
 * Sums the charges of each API key since the account exists. Records of releases that did not record the key count for
 * none. Reads at most 5,000 records that no earlier call has read. Throws StoreError.
 */
export const spentByKey = async (deps: SummaryDependencies, accountId: string): Promise<KeySpend> => {
  const account = await deps.store.readAccount(accountId);
  if (!account) return { picos: new Map(), isComplete: true };
  await countLateCharges(deps, accountId);
  const period = await readKeysPeriod(deps, accountId);
  // The first call has also searched for the first record with an API key.
  const sums = await readPeriods(deps, account, [period], RECORDS_MAX - (period.kept ? 0 : SEARCH_MAX));
  const { cells = [], isComplete = false } = sums.get(KEYS_PERIOD) ?? {};
  return { picos: new Map(cells.map(({ keyId = '', amountPicos }) => [keyId, amountPicos])), isComplete };
};

/**
 * Returns the charges of each API key in pico-USD, for lists of keys. Undefined while records remain that no call has
 * read. Throws StoreError.
 */
export const createSpentByKey =
  (deps: SummaryDependencies) =>
  async (accountId: string): Promise<ReadonlyMap<string, bigint> | undefined> => {
    const { picos, isComplete } = await spentByKey(deps, accountId);
    return isComplete ? picos : undefined;
  };
