import type { Model } from '../catalog/schema.ts';
import type { CircuitKey, Passage } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { type HoldOrder, nextIdAfter, placeHold, type Reservation } from '../ledger/hold.ts';
import { release } from '../ledger/release.ts';
import { barredError } from './barred.ts';
import type { Caller, PaidCallPorts } from './ports.ts';

/** A model a request could go to, checked and priced. */
export interface Candidate {
  readonly model: Model;
  readonly circuit: CircuitKey;
  readonly hold: Pick<HoldOrder, 'amountPicos' | 'expiresAtMs' | 'smaller' | 'advice' | 'remedy'>;
}

export interface Entered<Chosen extends Candidate> {
  readonly candidate: Chosen;
  readonly reservation: Reservation;
  readonly passage: Passage;
}

/**
 * Reserves the money and, just before dispatch, asks the circuit. Who is turned away there gives the hold back; the reserve that the
 * client named is then held for anew, at its own prices.
 */
export const holdAndEnter = async <Chosen extends Candidate>(
  ports: PaidCallPorts,
  { accountId, requestId }: Caller,
  first: Chosen,
  second?: () => Promise<Chosen>,
): Promise<Entered<Chosen>> => {
  refuseManyDrains(ports, accountId);
  const enter = async (candidate: Chosen, firstId: number, isLast: boolean): Promise<Entered<Chosen> | Left> => {
    const { model, circuit, hold } = candidate;
    const reservation = await placeHold(ports.ledger, { ...hold, accountId, requestId, firstId });
    const passage = await ports.circuits.enter(circuit, { accountId, requestId });
    if (passage.kind === 'passage') return { candidate, reservation, passage };
    const error = barredError(model, passage);
    const goesOn = passage.kind === 'open' && !isLast;
    // A request that goes on has not ended: this hold is not what became of it.
    await release(ports.ledger, reservation, { reason: goesOn ? 'given_up' : error.code, modelId: model.id });
    return { error, goesOn, nextId: nextIdAfter(reservation) };
  };
  const entered = await enter(first, 0, !second);
  if (!('error' in entered)) return entered;
  if (!second || !entered.goesOn) throw entered.error;
  const instead = await enter(await second(), entered.nextId, true);
  if ('error' in instead) throw instead.error;
  return instead;
};

/** A circuit let nobody through, and the hold was given back. */
interface Left {
  readonly error: GatewayError;
  /** To the reserve. */
  readonly goesOn: boolean;
  readonly nextId: number;
}

/** BILL-8. */
export const refuseManyDrains = ({ drains }: Pick<PaidCallPorts, 'drains'>, accountId: string): void => {
  if (!drains.isFull(accountId)) return;
  throw new GatewayError(
    'rate_limit_exceeded',
    'This account has left too many streams before their end, and they are still being read. Wait for them to end.',
    { retryAfterSeconds: 1, limit: 'drains' },
  );
};
