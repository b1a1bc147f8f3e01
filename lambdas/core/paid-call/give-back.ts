import { GatewayError } from '../errors/gateway-error.ts';
import { ClaimLost } from '../idempotency/claimed-execution.ts';
import type { LedgerPorts } from '../ledger/ledger.ts';
import { release } from '../ledger/release.ts';
import type { PaidCall } from './paid-call.ts';

export type Failed = Pick<PaidCall, 'reservation' | 'passage' | 'modelId' | 'attempt'>;

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
    const { failure, answer } = await storeRefusal(failed, thrown);
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

interface Refused {
  /** What to end with. */
  readonly failure: unknown;
  /** The hash under which it is stored. */
  readonly answer?: string;
}

/** IDEM-7: the vendor's refusal of the request itself is the answer to its repetitions, too. */
const storeRefusal = async ({ reservation, attempt }: Failed, thrown: unknown): Promise<Refused> => {
  const refusal = attempt?.toStoredRefusal(thrown);
  if (!attempt || !refusal) return { failure: thrown };
  try {
    return { failure: thrown, answer: await attempt.prepare(reservation.holdId, refusal) };
  } catch (error) {
    // It costs nothing: an answer that cannot be kept may be given all the same.
    return { failure: error instanceof GatewayError ? thrown : error };
  }
};

/** As an event of a stream has to have it. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'Something went wrong on our side.', { cause: thrown });
