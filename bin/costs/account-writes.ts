import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';

/**
 * Bytes of an account item without holds, and of one packed hold in it. `test/service/store-units.long.test.ts` compares
 * the resulting units with those that a database reports.
 */
const ACCOUNT_BYTES = 182;
const HOLD_BYTES = 23;
/** A write takes one unit for each started KB of the larger of the items before and after it. */
const UNIT_BYTES = 1_024;
const RECORD_UNITS = 1;
/** The first hold of an idle account also writes to the list of the sweep. */
const SWEEP_LIST_UNITS = 1;

/** Write units per second that DynamoDB accepts for one partition, and thus for one item. */
export const PARTITION_UNITS = 1_000;

/** Returns the write units of the account item in one paid request: its hold and its end. */
const itemUnits = (openHolds: number): number =>
  2 * Math.ceil((ACCOUNT_BYTES + HOLD_BYTES * (Math.floor(openHolds) + 1)) / UNIT_BYTES);

/** Returns the write units of hold, charge record and end of a request, while the account has that many other holds. */
export const accountUnits = (openHolds: number): number =>
  itemUnits(openHolds) + RECORD_UNITS + (openHolds === 0 ? SWEEP_LIST_UNITS : 0);

export interface AccountRate {
  /** Requests per second, rounded down. */
  readonly perSecond: number;
  /** Average number of open holds at that rate, by Little's law. */
  readonly openHolds: number;
  /** Write units of one request at that rate. */
  readonly units: number;
}

/** Returns the highest rate at which `allows` is true. It must be false for all higher rates. */
const highestRate = (allows: (perSecond: number) => boolean): number => {
  let rate = 0;
  while (allows(rate + 1)) rate += 1;
  return rate;
};

const rateOf = (perSecond: number, seconds: number): AccountRate => ({
  perSecond,
  openHolds: Math.floor(perSecond * seconds),
  units: accountUnits(perSecond * seconds),
});

/**
 * Returns the highest rate of one account that its partition accepts, for requests of that duration. The records are in
 * the partition of the account until DynamoDB moves them (`recordsMoved`).
 */
export const partitionRate = (seconds: number, recordsMoved: boolean): AccountRate => {
  const used = (rate: number): number =>
    rate * (recordsMoved ? itemUnits(rate * seconds) : accountUnits(rate * seconds));
  return rateOf(
    highestRate((rate) => used(rate) <= PARTITION_UNITS),
    seconds,
  );
};

/** Returns the rate above which LIM-8 rejects requests of that duration. */
export const holdLimitRate = (seconds: number): AccountRate => rateOf(Math.floor(HOLDS_MAX / seconds), seconds);
