import { PICOS_PER_USD } from '../money/usd.ts';

/** KEY-3: balance at which the owner is notified by default. Pico-USD. */
export const LOW_BALANCE_THRESHOLD_DEFAULT = PICOS_PER_USD;

/**
 * One write of the account item, as the stream of the table reports it. The balance is credits minus charges, without
 * holds. Pico-USD.
 */
export interface BalanceChange {
  readonly accountId: string;
  readonly chatId: string | undefined;
  /** Account version after the write. */
  readonly version: number;
  readonly beforePicos: bigint;
  readonly afterPicos: bigint;
  readonly thresholdPicos: bigint;
}

/**
 * Whether a write takes the balance from above the threshold to the threshold or below (KEY-3). A threshold of 0 is
 * never crossed.
 */
export const isCrossing = ({ beforePicos, afterPicos, thresholdPicos }: BalanceChange): boolean =>
  thresholdPicos > 0n && beforePicos > thresholdPicos && afterPicos <= thresholdPicos;

export interface Pace {
  /** Pico-USD. */
  readonly balancePicos: bigint;
  /** Amount that was spent in the averaging window. Pico-USD. */
  readonly spentPicos: bigint;
  readonly spanMs: number;
  /** Time since the first request of the account, in ms. */
  readonly historyMs: number;
}

/** Averaging window for the spend rate, in ms. Seven days even out weekends. */
export const PACE_SPAN_MS = 7 * 86_400_000;

const MS_PER_DAY = 86_400_000n;

/** The first hours of an account do not show its pace. */
const HISTORY_MS_MIN = Number(MS_PER_DAY);

/**
 * KEY-4: how long the balance lasts at this pace, in days, rounded down to a tenth. Null if nothing was spent, or if the
 * account has less than a day of history.
 */
export const daysLeft = ({ balancePicos, spentPicos, spanMs, historyMs }: Pace): number | null => {
  if (spentPicos <= 0n || historyMs < HISTORY_MS_MIN) return null;
  if (balancePicos <= 0n) return 0;
  const tenths = (balancePicos * BigInt(Math.min(spanMs, historyMs)) * 10n) / (spentPicos * MS_PER_DAY);
  return Number(tenths) / 10;
};
