import type { ChargeRecord } from './charge-record.ts';
import { requestIdOf } from './hold.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { commit } from './resolve.ts';

/**
 * The record that ends a hold of somebody else: a settlement that waits in the outbox, the record that is already there, or a
 * release. The account has not been brought up to date. Throws StoreError, also when the outbox does not answer: what it may hold
 * must not be passed over.
 */
export const resolveForeign = async (
  ports: LedgerPorts,
  { accountId, holdId, reason }: { readonly accountId: string; readonly holdId: string; readonly reason: string },
): Promise<ChargeRecord> => {
  const note = await ports.outbox.read(holdId);
  return commit(
    ports,
    note?.record ?? {
      accountId,
      holdId,
      requestId: requestIdOf(holdId),
      outcome: 'released',
      amountPicos: 0n,
      at: ports.clock.now(),
      reason,
    },
  );
};
