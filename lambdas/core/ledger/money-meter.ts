import type { ChargeRecord } from './ledger.ts';

/**
 * What money does, for trends and alarms: the ledger alone is exact. Over time, held and overage are as much as charged and released,
 * but for what a lost reply hid. Uncollected is what an answer was worth that was not charged though its vendor was paid.
 */
export const movements = ['held', 'charged', 'released', 'overage', 'uncollected'] as const;
export type Movement = (typeof movements)[number];

/** Must not throw: it is called in the middle of what it counts. */
export type MoneyMeter = (picos: Readonly<Partial<Record<Movement, bigint>>>) => void;

/** Called by whoever closed the hold, so once for each. */
export const meterResolved = (
  meter: MoneyMeter,
  { outcome, amountPicos }: ChargeRecord,
  holdAmountPicos: bigint,
): void => {
  if (outcome === 'released') meter({ released: holdAmountPicos });
  else if (amountPicos > holdAmountPicos) meter({ charged: amountPicos, overage: amountPicos - holdAmountPicos });
  else meter({ charged: amountPicos, released: holdAmountPicos - amountPicos });
};
