import { StoreError } from '../errors/store-error.ts';
import type { Reservation } from './hold.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { apply, commit } from './resolve.ts';

/**
 * Gives a request's own hold back. A store that does not answer is left to the sweeper: the hold has an expiry, and the
 * client is owed its error either way.
 */
export const release = async (ports: LedgerPorts, reservation: Reservation, reason: string): Promise<void> => {
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
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
};
