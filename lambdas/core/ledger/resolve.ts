import { retryUntilDefinite } from '../retry.ts';
import type { Account, ChargeRecord, LedgerDependencies } from './ledger.ts';
import { meterResolved } from './ledger.ts';

/**
 * The commit point: writes the record unless the hold already has one, and answers the record that counts. A caller whose
 * record lost must obey the one it gets. Throws StoreError when no definite answer came.
 */
export const commit = async (deps: LedgerDependencies, record: ChargeRecord): Promise<ChargeRecord> => {
  const reply = await retryUntilDefinite(deps, () => deps.store.putRecord(record));
  // After a lost reply the repeat finds this record. A record of another writer may carry another response.
  return reply.kind === 'written' ? record : reply.record;
};

/** Updates the account by a committed record. Undefined if another process already did. Throws StoreError. */
export const apply = async (
  deps: LedgerDependencies,
  record: ChargeRecord,
  holdAmountPicos: bigint,
): Promise<Account | undefined> => {
  const account = await retryUntilDefinite(deps, () => deps.store.apply(record, holdAmountPicos));
  if (account && deps.meter) meterResolved(deps.meter, record, holdAmountPicos);
  return account;
};
