import { retryUntilDefinite } from '../retry.ts';
import { isOnProbation, possibleUseOf } from './allowance.ts';
import type { Account, ChargeRecord, LedgerDependencies } from './ledger.ts';
import { meterResolved } from './ledger.ts';

/**
 * Commit point: writes the record unless the hold already has one, and returns the record that counts. A caller must
 * follow the returned record, even if it is not its own. Throws StoreError if the result is not definite, also after
 * `limitMs`.
 */
export const commit = async (
  deps: LedgerDependencies,
  record: ChargeRecord,
  limitMs?: number,
): Promise<ChargeRecord> => {
  const reply = await retryUntilDefinite(deps, () => deps.store.putRecord(record), limitMs);
  // If a reply was lost, the retry finds this record. If another writer came first, its record may commit another
  // response.
  return reply.kind === 'written' ? record : reply.record;
};

/** Applies a committed record to the account. Returns undefined if another process already did. Throws StoreError. */
export const apply = async (
  deps: LedgerDependencies,
  record: ChargeRecord,
  holdAmountPicos: bigint,
  limitMs?: number,
): Promise<Account | undefined> => {
  const account = await retryUntilDefinite(
    deps,
    () => deps.store.apply(record, holdAmountPicos, deps.clock.now()),
    limitMs,
  );
  deps.served?.closed(record.holdId);
  if (account && deps.meter) meterResolved(deps.meter, record, holdAmountPicos);
  if (account && possibleUseOf(record) !== undefined && isOnProbation(account)) {
    deps.onProbation?.(record.accountId, record.requestId);
  }
  return account;
};
