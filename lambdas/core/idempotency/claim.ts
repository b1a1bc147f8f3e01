import { isAhead } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { retryPolicy } from '../errors/retry-policy.ts';
import { StoreError } from '../errors/store-error.ts';
import { HOLD_IDS, holdIdOf } from '../ledger/hold.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import { resolveHoldById } from '../ledger/release.ts';
import { apply } from '../ledger/resolve.ts';
import { retryUntilDefinite, within } from '../retry.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';
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

/** IDEM-7: maximum number of dispatches under one idempotency key. */
const DISPATCHES_MAX = 6;

/** Each failed try means that another request changed the claim. */
const TRIES = 4;

const conflict = (code: 'idempotency_in_progress' | 'idempotency_exhausted', message: string) =>
  new GatewayError(code, message, { param: 'idempotency-key' });

/** Returns the error for an idempotency key whose request is in progress (IDEM-4). */
export const inProgress = (): GatewayError =>
  conflict(
    'idempotency_in_progress',
    `idempotency-key: a request with this key is still in progress. Retry in ${retryPolicy.idempotency_in_progress.afterSeconds} s.`,
  );

const exhausted = (why: string): GatewayError =>
  conflict('idempotency_exhausted', `idempotency-key: ${why} Use a new key.`);

/**
 * Claims the idempotency key, takes it over from a request whose lease has expired, or returns the stored response.
 * Throws 409 or 422 if the key belongs to another request, and 503 if a store fails.
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

/**
 * Tries once to claim the key. Returns undefined if another request changed the claim in the meantime, so that the
 * caller tries again.
 */
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
  // The reply of the write was lost, and the claim belongs to this request.
  if (claim.owner === requestId && claim.state === 'open')
    return new ClaimedRequest(deps, request, claim.leaseUntilMs, claim.dispatches);
  refuseOther(claim, fingerprint);
  const stored = await committedAnswer(deps, request, claim);
  if (stored) return stored;
  if (claim.state === 'done')
    throw exhausted('a request with this key ended, and the gateway no longer has its response.');
  if (isLeased(deps, claim, Math.max(nowMs, ledger.clock.now()))) throw inProgress();
  const standing = await request.creations?.close(claim.owner);
  // `adoptExisting` first reads the claim again, because a response may have been committed in the meantime.
  if (standing) return adoptExisting(deps, request, claim.owner, standing);
  const settled = await resolveHoldsOf(deps, request.accountId, claim.owner);
  if (settled) return answerOfSettled(deps, request);
  if (claim.dispatches >= DISPATCHES_MAX) throw exhausted(`a request with this key failed ${DISPATCHES_MAX} times.`);
  const taken = await retryUntilDefinite(ledger, () =>
    claims.takeOver({ ...terms, nowMs: Math.max(nowMs, claim.leaseUntilMs), from: claim.owner }),
  );
  if (taken.kind === 'taken') return new ClaimedRequest(deps, request, terms.leaseUntilMs, taken.dispatches);
  // The reply of the takeover was lost, and the claim belongs to this request.
  return taken.claim?.owner === requestId && taken.claim.state === 'open'
    ? new ClaimedRequest(deps, request, taken.claim.leaseUntilMs, taken.claim.dispatches)
    : undefined;
};

/**
 * Whether the owner of a claim may be at work. A lease further ahead than any that is taken now was taken with a wrong
 * clock, and is over, unless this process serves the owner. `nowMs` must be read after the claim: the reply may have
 * taken minutes, and the lease may be younger than the request.
 */
const isLeased = ({ ledger, leaseMs }: IdempotencyDependencies, claim: Claim, nowMs: number): boolean => {
  if (claim.leaseUntilMs <= nowMs || claim.state === 'unknown') return claim.leaseUntilMs > nowMs;
  if (isAhead(claim.leaseUntilMs, nowMs, leaseMs + SKEW_MS_MAX)) return true;
  return Array.from({ length: HOLD_IDS }, (_, id) => holdIdOf(claim.owner, id)).some((id) => ledger.served?.has(id));
};

const refuseOther = (claim: Claim, fingerprint: string): void => {
  if (claim.fingerprint !== fingerprint) {
    throw new GatewayError(
      'idempotency_key_mismatch',
      'idempotency-key: already used with a different body, endpoint or list of fallback models. Use a new key.',
      { param: 'idempotency-key' },
    );
  }
  if (claim.state === 'free') throw exhausted(`a request with this key failed ${DISPATCHES_MAX} times.`);
};

/**
 * Ends every hold that the previous owner has placed or may still place. Returns true if one of them committed a
 * response or a charge; then this request is not dispatched.
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

/**
 * Returns the response of a previous owner that reached its commit: its staged response, if the record contains its
 * hash.
 */
const answerOfSettled = async (deps: IdempotencyDependencies, request: IdempotentRequest): Promise<StoredResponse> => {
  const claim = await deps.claims.read(request);
  const stored = claim && (await committedAnswer(deps, request, claim));
  if (stored) return stored;
  throw exhausted('a request with this key was charged, and the gateway no longer has its response.');
};

/**
 * Returns the response of a claim if the claim is done or the record of its hold contains the hash of the response.
 * Throws StoreError.
 */
const committedAnswer = async (
  { answers, ledger }: IdempotencyDependencies,
  { accountId }: ClaimRef,
  { state, prepared }: Claim,
): Promise<StoredResponse | undefined> => {
  if (!prepared || state === 'unknown') return undefined;
  if (state !== 'done') {
    const record = await ledger.store.readRecord(accountId, prepared.holdId);
    if (record?.answer !== prepared.hash) return undefined;
  }
  return readPrepared(answers, prepared);
};

/**
 * Completes the claim of `owner` with `answer`, the response of an existing resource, and returns it. A response that
 * is already committed takes precedence. Returns undefined if another request took the claim over and has no committed
 * response. If the store fails to complete the claim, still returns `answer`, because the next request derives the same
 * response. Throws StoreError if a committed response cannot be read.
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

/** Claims the key within the time of the request. A claim that succeeds later is freed. */
const claimInTime = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<ClaimedRequest | StoredResponse> => {
  const claiming = claimKey(deps, request);
  try {
    return await within(request.storeTime, () => claiming);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const free = async (late: ClaimedRequest | StoredResponse): Promise<void> => {
      if (late instanceof ClaimedRequest) await late.free();
    };
    claiming.then(free).catch(() => undefined);
    throw storeIsDown(error);
  }
};

type Answered<Fresh> =
  | { readonly kind: 'fresh'; readonly value: Fresh }
  | { readonly kind: 'replayed'; readonly answer: StoredResponse };

/**
 * Makes at most one charge and one response per idempotency key, even after crashes (IDEM-8). `work` executes the
 * request, stages its response, commits the charge and then completes the claim. Throws the errors of `work`, and 409
 * or 422 if the key belongs to another request.
 */
export const answerOnce = async <Fresh>(
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
  work: (attempt: ClaimedRequest) => Promise<Fresh>,
): Promise<Answered<Fresh>> => {
  const claimed = await claimInTime(deps, request);
  if (!(claimed instanceof ClaimedRequest)) return { kind: 'replayed', answer: claimed };
  try {
    return { kind: 'fresh', value: await work(claimed) };
  } catch (error) {
    if (!(error instanceof ClaimLost)) throw error;
    const answer = await answerOfAnother(deps, request);
    if (!answer) throw inProgress();
    return { kind: 'replayed', answer };
  } finally {
    // No effect after a committed response, or while the state of the money is unknown.
    await claimed.free();
  }
};

/**
 * Returns the response to send after this request lost its claim: the committed response of the key, or the response of
 * a resource that this request created. Undefined if there is neither.
 */
const answerOfAnother = async (
  deps: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> => {
  try {
    const claim = await deps.claims.read(request);
    const committed = claim && (await committedAnswer(deps, request, claim));
    if (committed) return committed;
    // Reads only the resource of this request, because the current owner of the key may still be creating its own.
    const standing = await request.creations?.read(request.requestId);
    return standing && (await adoptExisting(deps, request, request.requestId, standing));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw storeIsDown(error);
  }
};
