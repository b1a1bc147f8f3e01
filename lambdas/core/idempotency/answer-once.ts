import { StoreError } from '../errors/store-error.ts';
import { Attempt, ClaimLost, storeIsDown } from './attempt.ts';
import { claimKey, inProgress } from './claim-key.ts';
import type { StoredAnswer } from './claim-store.ts';
import { committedAnswer } from './committed-answer.ts';
import type { IdempotencyPorts, KeyedRequest } from './idempotency-ports.ts';
import { keepStanding } from './keep-standing.ts';

export type Answered<Fresh> =
  | { readonly kind: 'fresh'; readonly value: Fresh }
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer };

/**
 * IDEM-8: at most one charge and one answer for each key, whoever dies or wakes when. `work` does the request; it prepares its answer
 * before it commits the charge, and completes after. Throws what `work` throws, and the 409 and 422 of a key in other use.
 */
export const answerOnce = async <Fresh>(
  ports: IdempotencyPorts,
  request: KeyedRequest,
  work: (attempt: Attempt) => Promise<Fresh>,
): Promise<Answered<Fresh>> => {
  const claimed = await claimKey(ports, request);
  if (!(claimed instanceof Attempt)) return { kind: 'replayed', answer: claimed };
  try {
    return { kind: 'fresh', value: await work(claimed) };
  } catch (error) {
    if (!(error instanceof ClaimLost)) throw error;
    const answer = await answerOfAnother(ports, request);
    if (!answer) throw inProgress();
    return { kind: 'replayed', answer };
  } finally {
    // Does nothing after an answer that was committed, or money whose fate is not known.
    await claimed.free();
  }
};

/** Whoever lost its key never serves its own answer. */
const answerOfAnother = async (ports: IdempotencyPorts, request: KeyedRequest): Promise<StoredAnswer | undefined> => {
  try {
    const claim = await ports.claims.read(request);
    const committed = claim && (await committedAnswer(ports, request, claim));
    if (committed) return committed;
    // Its own, never another's: who has the key now may still be making one.
    const standing = await request.creations?.read(request.requestId);
    return standing && (await keepStanding(ports, request, request.requestId, standing));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw storeIsDown(error);
  }
};
