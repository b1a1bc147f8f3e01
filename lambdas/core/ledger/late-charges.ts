import type { ChargeRecord } from './ledger.ts';
import {
  dayOfId,
  ignoreStoreError,
  nextSums,
  type Period,
  positionOf,
  readDayPeriods,
  readKeysPeriod,
  type SummaryDependencies,
} from './usage-periods.ts';

/** Late charges that one call adds to the sums. */
export const LATE_MAX = 900;

/** A transaction of DynamoDB has at most 100 writes, and two of them are the sums of the day and of the API keys. */
const TOGETHER_MAX = 90;

/**
 * Adds late charges to the stored sums (BILL-23). Those that remain, because another call is adding them or the store
 * fails, are left for the next call.
 */
export const countLateCharges = async (deps: SummaryDependencies, accountId: string): Promise<void> => {
  const late = await deps.records.lateCharges(accountId, LATE_MAX);
  for (const [day, charges] of Map.groupBy(late, ({ holdId }) => dayOfId(holdId))) {
    for (let at = 0; at < charges.length; at += TOGETHER_MAX)
      await ignoreStoreError(count(deps, accountId, day, charges.slice(at, at + TOGETHER_MAX)));
  }
};

/**
 * Writes every period that contains the charges, also if its next read will find them above its position. So a read that
 * runs at the same time, and has left them out because they were late, cannot store its sums.
 */
const count = async (
  deps: SummaryDependencies,
  accountId: string,
  day: string | undefined,
  charges: readonly ChargeRecord[],
): Promise<void> => {
  const days = day === undefined ? [] : await readDayPeriods(deps, accountId, { fromDay: day, toDay: day });
  const periods: readonly Period[] = [...days, await readKeysPeriod(deps, accountId)];
  const changed = periods.map((period) => {
    const positionId = positionOf(period);
    const sums = period.createSums(period.kept?.cells);
    for (const charge of charges) if (charge.holdId < positionId) sums.add(charge);
    return nextSums(period, sums.cells(), positionId);
  });
  await deps.records.keepUsageSums(
    accountId,
    changed,
    charges.map(({ holdId }) => holdId),
  );
};
