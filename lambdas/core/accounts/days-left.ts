export interface Pace {
  /** Pico-USD. */
  readonly balancePicos: bigint;
  /** What was spent in the time just gone by. Pico-USD. */
  readonly spentPicos: bigint;
  readonly spanMs: number;
}

/** Of the pace: a week has its quiet days. */
export const PACE_SPAN_MS = 7 * 86_400_000;

const MS_PER_DAY = 86_400_000n;

/** KEY-4: how long the balance lasts at this pace, in days, rounded down to a tenth. Null if nothing was spent. */
export const daysLeft = ({ balancePicos, spentPicos, spanMs }: Pace): number | null => {
  if (spentPicos <= 0n) return null;
  if (balancePicos <= 0n) return 0;
  const tenths = (balancePicos * BigInt(spanMs) * 10n) / (spentPicos * MS_PER_DAY);
  return Number(tenths) / 10;
};
