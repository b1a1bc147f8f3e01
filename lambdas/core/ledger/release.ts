import { StoreError } from '../errors/store-error.ts';
import type { AllowanceUse } from './allowance.ts';
import type { HoldCap } from './caps.ts';
import { type PlacedHold, requestIdOf } from './hold.ts';
import type { Account, ChargeRecord, LedgerDependencies } from './ledger.ts';
import { apply, commit } from './resolve.ts';

interface Reason {
  /** Error code, or another outcome of the request. */
  readonly reason: string;
  readonly modelId?: string;
  /** Hash of the stored error response that this record commits and that a repeated request gets (IDEM-7). */
  readonly answer?: string;
  /** Cost of the request for the gateway, if the provider served it. */
  readonly uncollected?: Uncollected | undefined;
  /** Facts about the provider call. */
  readonly call?: Pick<ChargeRecord, 'keyId' | 'endpoint' | 'provider' | 'firstByteMs' | 'totalMs'> | undefined;
}

/** Estimated cost of a request that ends without a charge (BILL-21). */
export interface Uncollected {
  /** Pico-USD. At most the hold is counted. */
  readonly picos: bigint;
  /**
   * Whether a client can provoke this ending. `yes`: the amount uses the account's allowance of the day.
   * `third-of-a-day`: only from the third such ending of a day on.
   */
  readonly usesAllowance: 'yes' | 'third-of-a-day' | 'no';
}

/**
 * Releases a request's own hold and returns the record that counts: a settled one if the request was charged, undefined
 * if the result is unknown. An unknown result is left to the sweeper, because the hold expires and the client gets its
 * error in any case.
 */
export const release = async (
  deps: LedgerDependencies,
  placedHold: PlacedHold,
  { reason, modelId, answer, uncollected, call }: Reason,
): Promise<ChargeRecord | undefined> => {
  const { accountId, requestId, holdId } = placedHold;
  const record = await answered<ChargeRecord>(
    commit(deps, {
      accountId,
      requestId,
      holdId,
      outcome: 'released',
      amountPicos: 0n,
      at: deps.clock.now(),
      reason,
      ...(modelId === undefined ? {} : { model: modelId }),
      ...(answer === undefined ? {} : { answer }),
      ...toFields(uncollected, placedHold),
      ...call,
      ...(placedHold.cap && { cap: placedHold.cap }),
    }),
  );
  if (record) await answered<Account | undefined>(apply(deps, record, placedHold.amountPicos));
  // The request does no more for its hold, so from now on the sweeper may end it.
  deps.served?.closed(holdId);
  return record;
};

const toFields = (uncollected: Uncollected | undefined, { amountPicos, allowancePicos }: PlacedHold): AllowanceUse => {
  if (!uncollected || uncollected.picos <= 0n) return {};
  const { picos, usesAllowance } = uncollected;
  return {
    uncollectedPicos: picos < amountPicos ? picos : amountPicos,
    ...(usesAllowance === 'yes' && { usesAllowance: true }),
    ...(usesAllowance === 'third-of-a-day' && { silentDeadline: true }),
    ...(usesAllowance !== 'no' && allowancePicos !== undefined && { allowancePicos }),
  };
};

const answered = async <T>(pending: Promise<T>): Promise<T | undefined> => {
  try {
    return await pending;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
};

/** A hold that another request placed. */
interface ForeignHold {
  readonly accountId: string;
  readonly holdId: string;
  readonly reason: string;
  /** Cap of the hold, if the caller has read it. */
  readonly cap?: HoldCap | undefined;
}

/**
 * Returns the record that ends another request's hold: a settlement that waits in the outbox, the record that exists,
 * or a release. Does not update the account. Throws StoreError, also if the outbox fails, because an entry in it must
 * not be ignored.
 */
export const resolveHoldById = async (
  deps: LedgerDependencies,
  { accountId, holdId, reason, cap }: ForeignHold,
): Promise<ChargeRecord> => {
  const note = await deps.outbox.read(holdId);
  return commit(
    deps,
    note?.record ?? {
      accountId,
      holdId,
      requestId: requestIdOf(holdId),
      outcome: 'released',
      amountPicos: 0n,
      at: deps.clock.now(),
      reason,
      ...(cap && { cap }),
    },
  );
};
