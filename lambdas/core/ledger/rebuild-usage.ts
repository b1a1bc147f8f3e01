import { StoreError } from '../errors/store-error.ts';
import {
  firstKeyedId,
  nextSums,
  type Period,
  readDayPeriods,
  readKeysPeriod,
  type SummaryDependencies,
} from './usage-periods.ts';
import { spentByKey, summarizeDays } from './usage-summary.ts';
import { KEYS_PERIOD } from './usage-sums.ts';

/** Days of one summary. */
const DAYS_MAX = 92;
const DAY_MS = 86_400_000;

/** Attempts to reset a period, against reads that store its sums at the same time. */
const RESETS_MAX = 20;

/** Returns the UTC days with stored sums, the earliest first. */
export const countedDays = async (
  { records }: Pick<SummaryDependencies, 'records'>,
  accountId: string,
): Promise<readonly string[]> => {
  const sums = await records.usageSums(accountId, '', KEYS_PERIOD);
  return sums.map(({ period }) => period).filter((period) => period !== KEYS_PERIOD);
};

/**
 * Counts all stored sums of an account again from its charge records (BILL-23). Returns the days whose sums changed, also
 * because of new requests, and `keys` if the sums by API key changed. Requests and summaries can run meanwhile. A repeat
 * is safe. Throws StoreError.
 */
export const rebuildUsage = async (deps: SummaryDependencies, accountId: string): Promise<readonly string[]> => {
  const days = await countedDays(deps, accountId);
  const before = await readWhole(deps, accountId, days);
  for (const day of days) {
    await reset(deps, accountId, () => readDayPeriods(deps, accountId, { fromDay: day, toDay: day }));
  }
  await reset(deps, accountId, async () => {
    const period = await readKeysPeriod(deps, accountId);
    return [{ ...period, startId: await firstKeyedId(deps, accountId) }];
  });
  const after = await readWhole(deps, accountId, days);
  return [...after.keys()].filter((period) => after.get(period) !== before.get(period));
};

/** A read that began before the reset cannot store its sums after it, because the reset increases the revision. */
const reset = async (
  { records }: SummaryDependencies,
  accountId: string,
  readPeriods: () => Promise<readonly Period[]>,
): Promise<void> => {
  for (let attempt = 0; attempt < RESETS_MAX; attempt += 1) {
    const empty = (await readPeriods()).map((period) => nextSums(period, [], period.startId));
    if (await records.keepUsageSums(accountId, empty)) return;
  }
  throw new StoreError('conflict', 'other reads stored usage sums at the same time');
};

/** Reads until the sums are complete. Returns them by day and, under `keys`, by API key, in a form to compare. */
const readWhole = async (
  deps: SummaryDependencies,
  accountId: string,
  days: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const whole = new Map<string, string>();
  for (const range of rangesOf(days)) {
    let summary = await summarizeDays(deps, accountId, range);
    while (summary && summary.incompleteDays.length > 0) summary = await summarizeDays(deps, accountId, range);
    for (const [day, cells] of summary?.days ?? []) whole.set(day, toText(cells));
  }
  let spend = await spentByKey(deps, accountId);
  while (!spend.isComplete) spend = await spentByKey(deps, accountId);
  return whole.set(KEYS_PERIOD, toText([...spend.picos]));
};

/** The order of cells is that of their first requests, which a late charge can change. */
const toText = (values: readonly object[]): string =>
  values
    .map((value) => JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? String(part) : part)))
    .toSorted()
    .join();

/** Returns ranges that cover the days, which are in their order. */
const rangesOf = (days: readonly string[]): readonly { readonly fromDay: string; readonly toDay: string }[] =>
  [...Map.groupBy(days, (day) => Math.floor(Date.parse(day) / (DAYS_MAX * DAY_MS))).values()].map((some) => ({
    fromDay: some[0] ?? '',
    toDay: some.at(-1) ?? '',
  }));
