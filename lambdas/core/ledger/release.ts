import { StoreError } from '../errors/store-error.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { Reservation } from './hold.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { apply, commit } from './resolve.ts';

/**
 * Gives a request's own hold back, and answers the record that counts: a settled one if the request had been charged after all.
 * A store that does not answer is left to the sweeper, and undefined is answered: the hold has an expiry, and the client is owed
 * its error either way.
 */
export const release = async (
  ports: LedgerPorts,
  reservation: Reservation,
  reason: string,
): Promise<ChargeRecord | undefined> => {
  try {
    const { accountId, requestId, holdId } = reservation;
    const record = await commit(ports, {
      accountId,
      requestId,
      holdId,
      outcome: 'released',
      amountPicos: 0n,
      at: ports.clock.now(),
      reason,
    });
    await apply(ports, record, reservation.amountPicos);
    return record;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
};
