import { StoreError } from '../errors/store-error.ts';
import { untilDefinite } from '../ledger/resolve.ts';
import { KEPT_MS } from './attempt.ts';
import type { StoredAnswer } from './claim-store.ts';
import { committedAnswer } from './committed-answer.ts';
import type { IdempotencyPorts, KeyedRequest, StandingAnswer } from './idempotency-ports.ts';
import { toPrepared } from './stored-answer.ts';

/**
 * Completes a claim in its owner's name, whose creation stands, unless its owner has committed an answer of its own meanwhile: then
 * that one counts. Undefined when the claim has changed hands. What the store does not take here is found again by the next request,
 * which comes to the same answer. Throws StoreError when it cannot be seen whether there is such an answer.
 */
export const keepStanding = async (
  ports: IdempotencyPorts,
  request: KeyedRequest,
  owner: string,
  { holdId, answer }: StandingAnswer,
): Promise<StoredAnswer | undefined> => {
  const committed = await answerOfClaim(ports, request);
  if (committed) return committed;
  try {
    if (await complete(ports, request, owner, { holdId, answer })) return answer;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return answer;
  }
  return answerOfClaim(ports, request);
};

const answerOfClaim = async (ports: IdempotencyPorts, request: KeyedRequest): Promise<StoredAnswer | undefined> => {
  const claim = await untilDefinite(ports.ledger, () => ports.claims.read(request));
  return claim && committedAnswer(ports, request, claim);
};

const complete = async (
  { claims, answers, ledger }: IdempotencyPorts,
  request: KeyedRequest,
  owner: string,
  { holdId, answer }: StandingAnswer,
): Promise<boolean> => {
  const prepared = await toPrepared(answers, answer, holdId);
  const expiresAtMs = ledger.clock.now() + KEPT_MS;
  if (!(await untilDefinite(ledger, () => claims.prepare(request, owner, prepared, expiresAtMs)))) return false;
  return untilDefinite(ledger, () => claims.complete(request, owner));
};
