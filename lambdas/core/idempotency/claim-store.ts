import type { GatewayError } from '../errors/gateway-error.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';
import type { StoreTime } from '../retry.ts';

/** Response that the client receives to the first request and to every replay (IDEM-2). */
export interface StoredResponse {
  readonly status: number;
  /** Headers of the response itself: its media type, its cost, the chosen output limit, the models. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Staged response. Until the claim is done, it is valid only if the charge record of `holdId` contains `hash`. */
export interface PreparedAnswer {
  readonly holdId: string;
  /** SHA-256 of the response, in hex. */
  readonly hash: string;
  /** The response, or its name in the response store if it is large. */
  readonly content: StoredResponse | { readonly objectName: string };
}

/** One idempotency key of one account. */
export interface ClaimRef {
  readonly accountId: string;
  /** SHA-256 of the Idempotency-Key, in hex. */
  readonly keyHash: string;
}

export interface Claim {
  /** Request that holds the claim: a request id, never used twice. */
  readonly owner: string;
  /** Unix milliseconds. After this time another request may take over. */
  readonly leaseUntilMs: number;
  readonly fingerprint: string;
  /**
   * `free`: the last attempt failed, and another one may start. `done`: `prepared` is the final response. `unknown`: a
   * state of a newer release. The claim has no owner here, and no response, until it expires.
   */
  readonly state: 'open' | 'prepared' | 'done' | 'free' | 'unknown';
  /** Number of attempts that called a provider or may have. */
  readonly dispatches: number;
  /** Unix milliseconds. After this time the idempotency key counts as unused. */
  readonly expiresAtMs: number;
  readonly prepared: PreparedAnswer | undefined;
}

const states: readonly string[] = ['open', 'prepared', 'done', 'free'] satisfies readonly Claim['state'][];
const isState = (value: string): value is Claim['state'] => states.includes(value);

/** Reads a stored claim. One in a state of a newer release is in progress until its lease and its expiry have passed. */
export const toKnownClaim = (claim: Omit<Claim, 'state'>, state: string): Claim =>
  isState(state)
    ? { ...claim, state }
    : { ...claim, state: 'unknown', leaseUntilMs: Math.max(claim.leaseUntilMs, claim.expiresAtMs) };

export interface ClaimRequest extends ClaimRef {
  readonly owner: string;
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly expiresAtMs: number;
  /** A freed claim with this many dispatches is rejected. */
  readonly dispatchesMax: number;
}

export type ClaimReply =
  /** `dispatches` includes this attempt. */
  | { readonly kind: 'claimed'; readonly dispatches: number }
  /** The condition failed; `claim` is the present claim. */
  | { readonly kind: 'refused'; readonly claim: Claim };

/**
 * Durable state of idempotency. Each method is one conditional write or one consistent read. It throws StoreError if
 * the result is not definite, and is safe to repeat. Methods that return a boolean report whether the caller was the
 * owner.
 */
export interface ClaimStore {
  /**
   * Succeeds if there is no claim, if it is free with the same fingerprint and fewer dispatches than the limit, or if
   * both its expiry and its lease have passed. An expired claim restarts, and so do its dispatches.
   */
  claim(request: ClaimRequest): Promise<ClaimReply>;
  /** Renews an `open` or `prepared` claim. */
  renew(ref: ClaimRef, owner: string, leaseUntilMs: number): Promise<boolean>;
  /** Stages a response for an `open` or `prepared` claim. The last one that an owner stages counts. */
  stageResponse(ref: ClaimRef, owner: string, prepared: PreparedAnswer, expiresAtMs: number): Promise<boolean>;
  /** Completes a `prepared` claim; a `done` one stays done. */
  complete(ref: ClaimRef, owner: string): Promise<boolean>;
  /**
   * Frees an `open` or `prepared` claim. Without dispatches the claim is removed; otherwise it stays as `free` without
   * a response.
   */
  free(ref: ClaimRef, owner: string, dispatches: number): Promise<boolean>;
  /**
   * Takes over an `open` or `prepared` claim of the owner `from` whose lease has expired. Drops the staged response and
   * adds one to the dispatches.
   */
  takeOver(
    request: Omit<ClaimRequest, 'fingerprint' | 'dispatchesMax'> & { readonly from: string },
  ): Promise<
    | { readonly kind: 'taken'; readonly dispatches: number }
    | { readonly kind: 'refused'; readonly claim: Claim | undefined }
  >;
  read(ref: ClaimRef): Promise<Claim | undefined>;
}

/** Store of responses that are too large for a claim. Every method throws StoreError if the result is not definite. */
export interface ResponseStore {
  put(objectName: string, content: string): Promise<void>;
  /** Returns undefined if the response does not exist. */
  get(objectName: string): Promise<string | undefined>;
}

/** Response of a request that committed by creating a resource instead of a charge record. */
export interface ExistingResponse {
  readonly holdId: string;
  readonly answer: StoredResponse;
}

/** Resources of requests that commit by creating something and are charged later. */
export interface Creations {
  /** Returns the resource that the request created. Throws StoreError. */
  read(requestId: string): Promise<ExistingResponse | undefined>;
  /**
   * Returns the resource that the request created, or makes its creation impossible. Throws StoreError, and 409 while
   * the creation is in progress.
   */
  close(requestId: string): Promise<ExistingResponse | undefined>;
}

export interface IdempotencyDependencies {
  readonly claims: ClaimStore;
  readonly answers: ResponseStore;
  readonly ledger: LedgerDependencies;
  /** Lease of a claim in ms: time until an unrenewed claim expires (IDEM-8). */
  readonly leaseMs: number;
}

/** A request with an idempotency key. */
export interface IdempotentRequest extends ClaimRef {
  /** Also the owner of the claim, because it is never used twice. */
  readonly requestId: string;
  readonly fingerprint: string;
  /** Time that is left for store calls before the provider call. Undefined means no limit. */
  readonly storeTime?: StoreTime | undefined;
  /** Renders an error as the client receives it. */
  readonly renderError: (error: GatewayError) => StoredResponse;
  /** Undefined if the charge record commits the request. */
  readonly creations?: Creations | undefined;
}
