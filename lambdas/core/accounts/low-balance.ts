import { PICOS_PER_USD } from '../money/usd.ts';

/** KEY-3: where an account that has set nothing is told of its balance. Pico-USD. */
export const LOW_BALANCE_THRESHOLD_DEFAULT = PICOS_PER_USD;

/** One write of the account item, as the table's stream tells it. The balance is credited less spent, whatever is held. Pico-USD. */
export interface BalanceChange {
  readonly accountId: string;
  readonly chatId: string | undefined;
  /** Of the account after the write. */
  readonly version: number;
  readonly beforePicos: bigint;
  readonly afterPicos: bigint;
  readonly thresholdPicos: bigint;
}

/** KEY-3: from above the threshold to it or below. A threshold of 0 is never crossed. */
export const isCrossing = ({ beforePicos, afterPicos, thresholdPicos }: BalanceChange): boolean =>
  thresholdPicos > 0n && beforePicos > thresholdPicos && afterPicos <= thresholdPicos;

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
