import { StoreError } from '../errors/store-error.ts';
import { type PlacedHold, requestIdOf } from './hold.ts';
import type { Account, ChargeRecord, LedgerDependencies } from './ledger.ts';
import { apply, commit } from './resolve.ts';

interface Reason {
  /** An error code, or what else became of the request. */
  readonly reason: string;
  readonly modelId?: string;
  /** Hash of the stored answer this record commits: a refusal that is to be repeated (IDEM-7). */
  readonly answer?: string;
}

/**
 * Gives a request's own hold back, and answers the record that counts: a settled one if the request had been charged after all,
 * undefined if the store did not say. What it does not answer is left to the sweeper: the hold has an expiry, and the client is owed
 * its error either way.
 */
export const release = async (
  deps: LedgerDependencies,
  placedHold: PlacedHold,
  { reason, modelId, answer }: Reason,
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
    }),
  );
  if (record) await answered<Account | undefined>(apply(deps, record, placedHold.amountPicos));
  return record;
};

const answered = async <T>(pending: Promise<T>): Promise<T | undefined> => {
  try {
    return await pending;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
};

/**
 * The record that ends a hold of somebody else: a settlement that waits in the outbox, the record that is already there, or a
 * release. The account has not been brought up to date. Throws StoreError, also when the outbox does not answer: what it may hold
 * must not be passed over.
 */
export const resolveHoldById = async (
  deps: LedgerDependencies,
  { accountId, holdId, reason }: { readonly accountId: string; readonly holdId: string; readonly reason: string },
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
    },
  );
};
