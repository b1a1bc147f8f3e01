import { StoreError } from '../errors/store-error.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { Reservation } from './hold.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import type { Outbox, OutboxNote } from './outbox.ts';

/** A note comes this long before others may release the hold, or not at all: their clocks may be ahead of ours. */
const MARGIN_MS = 60_000;
/** What the store of the notes may take of that, and the clocks differ by. */
const TAKEN_MS = 30_000;

/**
 * Leaves a settlement in the outbox. True only when it is there in time for everyone who could release the hold to find it, that is
 * before its expiry and, under an Idempotency-Key, before the lease ends (`takenOverAtMs`). A false answer does not mean that there is
 * no note: a release decides.
 */
export const leaveNote = async (
  { outbox, clock }: LedgerPorts,
  { amountPicos, expiresAtMs }: Reservation,
  record: ChargeRecord,
  takenOverAtMs: () => number,
): Promise<boolean> => {
  const leftMs = (): number => expiresAtMs - clock.now();
  if (leftMs() < MARGIN_MS || clock.now() >= takenOverAtMs()) return false;
  const note = { record, holdAmountPicos: amountPicos };
  // Once more, since a note whose reply was lost would be charged though its answer was withheld.
  if (!((await isPut(outbox, note)) || (await isPut(outbox, note)))) return false;
  return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();
};

const isPut = async (outbox: Outbox, note: OutboxNote): Promise<boolean> => {
  try {
    await outbox.put(note);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return false;
  }
};
