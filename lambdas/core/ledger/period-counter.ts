/** Amount of one period, in pico-USD. Names of periods, such as `2026-11-26`, compare as text. */
export interface PeriodCount {
  readonly period: string;
  readonly picos: bigint;
}

/** Counter of the present period, and the counts of other periods that can return. */
export interface PeriodCounter extends PeriodCount {
  readonly kept: readonly PeriodCount[];
}

/** Counter after a move. `origin` is where the amount of its period comes from. */
export interface MovedCounter extends PeriodCounter {
  readonly origin: 'present' | 'kept' | 'carried' | 'new';
}

/** Difference of the clocks of two processes that starts no period, in ms. */
const CLOCKS_APART_MS = 10_000;

/**
 * Returns the period of a counter by this clock. A stored period that starts within 10 s is the present one, so that
 * clocks which differ a little do not move a counter to and fro at midnight.
 */
export const periodAt = (stored: string, nowMs: number, nameAt: (atMs: number) => string): string => {
  const name = nameAt(nowMs);
  return name < stored && nameAt(nowMs + CLOCKS_APART_MS) >= stored ? stored : name;
};

/**
 * Moves a counter to another period, which is earlier if a clock was set back. Each period has its own amount:
 *
 * - A kept period continues with its amount. So clocks that alternate get no fresh limit.
 * - A later period that is not kept starts at 0.
 * - An earlier one that is not kept starts with `carriedPicos`, the amount of the period that the counter leaves: a
 *   clock was ahead, and the amount was spent in the earlier one.
 *
 * The counter keeps the period before, the next one and the latest of all. So two clocks that differ by less than a period
 * share the amount of each period. A period after the latest one was never counted before, so the audit can compare the
 * latest one with the records.
 */
export const movePeriod = (
  counter: PeriodCounter,
  period: string,
  carriedPicos: bigint = counter.picos,
): MovedCounter => {
  if (period === counter.period) return { ...counter, origin: 'present' };
  const left = { period: counter.period, picos: counter.picos };
  const others = [left, ...counter.kept].toSorted((one, other) => (one.period < other.period ? -1 : 1));
  const earlier = others.findLast((count) => count.period < period);
  const later = others.filter((count) => count.period > period);
  const kept = [...new Set([earlier, later[0], later.at(-1)])].filter((count) => count !== undefined);
  const known = others.find((count) => count.period === period);
  if (known) return { ...known, kept, origin: 'kept' };
  return period < counter.period
    ? { period, picos: carriedPicos, kept, origin: 'carried' }
    : { period, picos: 0n, kept, origin: 'new' };
};
