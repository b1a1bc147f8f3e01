import type { Passage } from '../circuit/circuits.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { type Attempt, ClaimLost } from '../idempotency/attempt.ts';
import type { Reservation } from '../ledger/hold.ts';
import type { LedgerPorts } from '../ledger/ledger-ports.ts';
import { release } from '../ledger/release.ts';

export interface Failed {
  readonly reservation: Reservation;
  readonly passage: Passage;
  readonly modelId: string;
  /** Under an Idempotency-Key. */
  readonly attempt?: Attempt | undefined;
}

/**
 * Ends a request that failed after its hold: tells the circuit, releases the hold, and answers the error to end with: what was
 * thrown, unless a charge turns out to stand. It never throws itself.
 */
export const giveBack = async (ledger: LedgerPorts, failed: Failed, thrown: unknown): Promise<unknown> => {
  const [failure] = await Promise.all([released(ledger, failed, thrown), failed.passage.report(outcomeOf(thrown))]);
  return failure;
};

/** A vendor that turned this request away is there and works. */
const outcomeOf = (thrown: unknown): 'succeeded' | 'failed' | 'unknown' => {
  if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') return 'unknown';
  return thrown.upstreamFailed ? 'failed' : 'succeeded';
};

const released = async (ledger: LedgerPorts, failed: Failed, thrown: unknown): Promise<unknown> => {
  const { reservation, modelId, attempt } = failed;
  try {
    const stored = await storeRefusal(failed, thrown);
    const answer = typeof stored === 'string' ? stored : undefined;
    const failure = stored === undefined || answer !== undefined ? thrown : stored;
    const reason = { reason: reasonOf(failure), modelId, ...(answer === undefined ? {} : { answer }) };
    const record = await release(ledger, reservation, reason);
    // A charge, or an answer under the key, may stand: only who takes the key over can find out.
    const stands = record ? record.outcome === 'settled' : answer !== undefined || attempt?.mayBeCharged === true;
    if (stands) attempt?.abandon();
    if (record?.outcome === 'settled') {
      return new GatewayError('internal_error', 'The answer was charged and then lost on our side.', { cause: thrown });
    }
    // What the client is told of a bug must not be that nothing was charged.
    if (answer === undefined) return record || failure instanceof ClaimLost ? failure : asGatewayError(failure);
    if (record?.answer !== answer) return new ClaimLost();
    // Whoever repeats the request finds the answer by its record as well.
    await attempt?.complete().catch(() => undefined);
    return thrown;
  } catch (bug) {
    attempt?.abandon();
    return asGatewayError(bug);
  }
};

const reasonOf = (failure: unknown): string => {
  if (failure instanceof ClaimLost) return 'taken_over';
  return failure instanceof GatewayError ? failure.code : 'internal_error';
};

/**
 * IDEM-7: the vendor's refusal of the request itself is the answer to its repetitions, too. Answers its hash, or what to end with
 * instead of the refusal.
 */
const storeRefusal = async ({ reservation, attempt }: Failed, thrown: unknown): Promise<unknown> => {
  const refusal = attempt?.toStoredRefusal(thrown);
  if (!attempt || !refusal) return undefined;
  try {
    return await attempt.prepare(reservation.holdId, refusal);
  } catch (error) {
    // It costs nothing: an answer that cannot be kept may be given all the same.
    return error instanceof GatewayError ? undefined : error;
  }
};

/** As an event of a stream has to have it. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'Something went wrong on our side.', { cause: thrown });
