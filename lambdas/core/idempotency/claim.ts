import { GatewayError } from '../errors/gateway-error.ts';
import { retryPolicy } from '../errors/retry-policy.ts';
import { StoreError } from '../errors/store-error.ts';
import { HOLD_IDS, holdIdOf } from '../ledger/hold.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import { resolveHoldById } from '../ledger/release.ts';
import { apply } from '../ledger/resolve.ts';
import { retryUntilDefinite } from '../retry.ts';
import type {
  Claim,
  ClaimRef,
  ExistingResponse,
  IdempotencyDependencies,
  IdempotentRequest,
  StoredResponse,
} from './claim-store.ts';
import { ClaimedRequest, ClaimLost, RETENTION_MS, storeIsDown } from './claimed-execution.ts';
import { readPrepared, toPrepared } from './stored-response.ts';

/** IDEM-7: one more is refused. */
const DISPATCHES_MAX = 6;

/** Each failed try means that another request did something under the same key. */
const TRIES = 4;

const conflict = (code: 'idempotency_in_progress' | 'idempotency_exhausted', message: string) =>
  new GatewayError(code, message, { param: 'idempotency-key' });

/** IDEM-4. */
export const inProgress = (): GatewayError =>
  conflict(
    'idempotency_in_progress',
    `idempotency-key: a request with this key is still in progress. Retry in ${retryPolicy.idempotency_in_progress.afterSeconds} s.`,
  );

const exhausted = (why: string): GatewayError =>
  conflict('idempotency_exhausted', `idempotency-key: ${why} Use a new key.`);

/**
 * Claims the key, takes it over from a request whose lease has expired, or returns the stored response. Throws 409 or
 * 422 if the key is in other use, and 503 if a store fails.
 */
const claimKey = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<ClaimedRequest | StoredResponse> => {
  try {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const outcome = await tryToClaim(deps, request);
      if (outcome) return outcome;
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw storeIsDown(error);
  }
  throw inProgress();
};

/** Undefined when the claim has changed hands meanwhile and has to be looked at again. */
const tryToClaim = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<ClaimedRequest | StoredResponse | undefined> => {
  const { claims, ledger, leaseMs } = deps;
  const { requestId, fingerprint } = request;
  const nowMs = ledger.clock.now();
  const terms = {
    accountId: request.accountId,
    keyHash: request.keyHash,
    owner: requestId,
    nowMs,
    leaseUntilMs: nowMs + leaseMs,
    expiresAtMs: nowMs + RETENTION_MS,
  };
  const reply = await retryUntilDefinite(ledger, () =>
    claims.claim({ ...terms, fingerprint, dispatchesMax: DISPATCHES_MAX }),
  );
  if (reply.kind === 'claimed') return new ClaimedRequest(deps, request, terms.leaseUntilMs, reply.dispatches);
  const { claim } = reply;
  // A reply was lost, and the claim is this request's own.
  if (claim.owner === requestId && claim.state === 'open')
    return new ClaimedRequest(deps, request, claim.leaseUntilMs, claim.dispatches);
  refuseOther(claim, fingerprint);
  const stored = await committedAnswer(deps, request, claim);
  if (stored) return stored;
  if (claim.state === 'done') throw exhausted('its response is lost.');
  if (claim.leaseUntilMs > nowMs) throw inProgress();
  const standing = await request.creations?.close(claim.owner);
  // A response that was completed in the meantime is read again.
  if (standing) return adoptExisting(deps, request, claim.owner, standing);
  const settled = await resolveHoldsOf(deps, request.accountId, claim.owner);
  if (settled) return answerOfSettled(deps, request);
  if (claim.dispatches >= DISPATCHES_MAX) throw exhausted(`it was tried ${DISPATCHES_MAX} times.`);
  const taken = await retryUntilDefinite(ledger, () => claims.takeOver({ ...terms, from: claim.owner }));
  if (taken.kind === 'taken') return new ClaimedRequest(deps, request, terms.leaseUntilMs, taken.dispatches);
  // The reply of a take-over was lost: it is ours all the same.
  return taken.claim?.owner === requestId
    ? new ClaimedRequest(deps, request, taken.claim.leaseUntilMs, taken.claim.dispatches)
    : undefined;
};

const refuseOther = (claim: Claim, fingerprint: string): void => {
  if (claim.fingerprint !== fingerprint) {
    throw new GatewayError(
      'idempotency_key_mismatch',
      'idempotency-key: already used with a different body, endpoint or fallback model. Use a new key.',
      { param: 'idempotency-key' },
    );
  }
  if (claim.state === 'free') throw exhausted(`it was tried ${DISPATCHES_MAX} times.`);
};

/**
 * Ends every hold that the old request has or may still place. True if one of them commits a response or a charge: then
 * the request is not dispatched again.
 */
const resolveHoldsOf = async (
  { ledger }: IdempotencyDependencies,
  accountId: string,
  requestId: string,
): Promise<boolean> => {
  const records: ChargeRecord[] = [];
  for (let id = 0; id < HOLD_IDS; id += 1) {
    records.push(await resolveHoldById(ledger, { accountId, holdId: holdIdOf(requestId, id), reason: 'taken_over' }));
  }
  const account = await ledger.store.readAccount(accountId);
  for (const record of records) {
    const hold = account?.holds.get(record.holdId);
    if (hold) await apply(ledger, record, hold.amountPicos);
  }
  return records.some(({ outcome, answer }) => outcome === 'settled' || answer !== undefined);
};

/** The old request got as far as its commit: its own prepared answer counts if the record carries its hash, and no other. */
const answerOfSettled = async (deps: IdempotencyDependencies, request: IdempotentRequest): Promise<StoredResponse> => {
  const claim = await deps.claims.read(request);
  const stored = claim && (await committedAnswer(deps, request, claim));
  if (stored) return stored;
  throw exhausted('a request with this key was charged, and its response is lost.');
};

/** The answer of a claim, if the record of its hold has committed it. Throws StoreError. */
const committedAnswer = async (
  { answers, ledger }: IdempotencyDependencies,
  { accountId }: ClaimRef,
  { state, prepared }: Claim,
): Promise<StoredResponse | undefined> => {
  if (!prepared) return undefined;
  if (state !== 'done') {
    const record = await ledger.store.readRecord(accountId, prepared.holdId);
    if (record?.answer !== prepared.hash) return undefined;
  }
  return readPrepared(answers, prepared);
};

/**
 * Completes a claim in its owner's name, whose creation stands, unless its owner has committed an answer of its own meanwhile: then
 * that one counts. Undefined when the claim has changed hands. What the store does not take here is found again by the next request,
 * which comes to the same answer. Throws StoreError when it cannot be seen whether there is such an answer.
 */
const adoptExisting = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
  owner: string,
  { holdId, answer }: ExistingResponse,
): Promise<StoredResponse | undefined> => {
  const committed = await answerOfClaim(deps, request);
  if (committed) return committed;
  try {
    if (await complete(deps, request, owner, { holdId, answer })) return answer;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return answer;
  }
  return answerOfClaim(deps, request);
};

const answerOfClaim = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> => {
  const claim = await retryUntilDefinite(deps.ledger, () => deps.claims.read(request));
  return claim && committedAnswer(deps, request, claim);
};

const complete = async (
  { claims, answers, ledger }: IdempotencyDependencies,
  request: IdempotentRequest,
  owner: string,
  { holdId, answer }: ExistingResponse,
): Promise<boolean> => {
  const prepared = await toPrepared(answers, answer, holdId);
  const expiresAtMs = ledger.clock.now() + RETENTION_MS;
  if (!(await retryUntilDefinite(ledger, () => claims.stageResponse(request, owner, prepared, expiresAtMs))))
    return false;
  return retryUntilDefinite(ledger, () => claims.complete(request, owner));
};

type Answered<Fresh> =
  | { readonly kind: 'fresh'; readonly value: Fresh }
  | { readonly kind: 'replayed'; readonly answer: StoredResponse };

/**
 * IDEM-8: at most one charge and one response per key, even after crashes. `work` does the request, stages its response
 * before it commits the charge, and completes after. Throws what `work` throws, and the 409 and 422 of a key in other
 * use.
 */
export const answerOnce = async <Fresh>(
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
  work: (attempt: ClaimedRequest) => Promise<Fresh>,
): Promise<Answered<Fresh>> => {
  const claimed = await claimKey(deps, request);
  if (!(claimed instanceof ClaimedRequest)) return { kind: 'replayed', answer: claimed };
  try {
    return { kind: 'fresh', value: await work(claimed) };
  } catch (error) {
    if (!(error instanceof ClaimLost)) throw error;
    const answer = await answerOfAnother(deps, request);
    if (!answer) throw inProgress();
    return { kind: 'replayed', answer };
  } finally {
    // Does nothing after an answer that was committed, or money whose fate is not known.
    await claimed.free();
  }
};

/** A request that lost its claim never sends its own response. */
const answerOfAnother = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> => {
  try {
    const claim = await deps.claims.read(request);
    const committed = claim && (await committedAnswer(deps, request, claim));
    if (committed) return committed;
    // Its own, never another's: who has the key now may still be making one.
    const standing = await request.creations?.read(request.requestId);
    return standing && (await adoptExisting(deps, request, request.requestId, standing));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw storeIsDown(error);
  }
};
