import { PICOS_PER_USD } from '../money/usd.ts';

/** KEY-3: where an account that has set nothing is told of its balance. Pico-USD. */
export const THRESHOLD_STANDARD = PICOS_PER_USD;

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
