import type { GatewayError } from '../errors/gateway-error.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';

/** An answer as it goes to the client, now and on every repetition (IDEM-2). */
export interface StoredResponse {
  readonly status: number;
  /** What belongs to the answer itself: its type, its cost, the cap chosen, the models. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer that waits to be committed. It counts only if the charge record of `holdId` carries `hash`. */
export interface PreparedAnswer {
  readonly holdId: string;
  /** SHA-256 of the answer, in hex. */
  readonly hash: string;
  /** The answer itself, or its name in the answer store when it is large. */
  readonly content: StoredResponse | { readonly objectName: string };
}

/** One key of one account. */
export interface ClaimRef {
  readonly accountId: string;
  /** SHA-256 of the Idempotency-Key, in hex. */
  readonly keyHash: string;
}

export interface Claim {
  /** The request that works under this key: a request id, never used twice. */
  readonly owner: string;
  /** Unix milliseconds. Once it has passed, another request may take over. */
  readonly leaseUntilMs: number;
  readonly fingerprint: string;
  /** `free`: the last attempt failed, and another one may begin. `done`: `prepared` is the answer for good. */
  readonly state: 'open' | 'prepared' | 'done' | 'free';
  /** Attempts that have, or may have, called a vendor. */
  readonly dispatches: number;
  /** Unix milliseconds; after it the key is as if it had never been used. */
  readonly expiresAtMs: number;
  readonly prepared: PreparedAnswer | undefined;
}

export interface ClaimRequest extends ClaimRef {
  readonly owner: string;
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly expiresAtMs: number;
  /** A freed claim with this many dispatches is refused. */
  readonly dispatchesMax: number;
}

export type ClaimReply =
  /** `dispatches` counts this attempt already. */
  | { readonly kind: 'claimed'; readonly dispatches: number }
  /** The condition failed; this is the present claim. */
  | { readonly kind: 'refused'; readonly claim: Claim };

/**
 * The durable half of idempotency. Every method is one conditional write or one consistent read, and throws StoreError when it
 * brought no definite answer; all are safe to repeat. Those that answer a boolean say whether the caller was the owner.
 */
export interface ClaimStore {
  /**
   * Succeeds if there is no claim, if it is free with the same fingerprint and fewer dispatches than the limit, or if
   * both its expiry and its lease have passed. An expired claim restarts, and so do its dispatches.
   */
  claim(request: ClaimRequest): Promise<ClaimReply>;
  /** Only while `open` or `prepared`. */
  renew(ref: ClaimRef, owner: string, leaseUntilMs: number): Promise<boolean>;
  /** Only while `open` or `prepared`: of one owner the last prepared answer counts. */
  stageResponse(ref: ClaimRef, owner: string, prepared: PreparedAnswer, expiresAtMs: number): Promise<boolean>;
  /** Only from `prepared` or `done`. */
  complete(ref: ClaimRef, owner: string): Promise<boolean>;
  /** Only while `open` or `prepared`. With no dispatches the claim is removed, else it is kept as `free` without an answer. */
  free(ref: ClaimRef, owner: string, dispatches: number): Promise<boolean>;
  /**
   * Only while the claim is `open` or `prepared`, of owner `from`, and its lease has passed: the prepared answer goes, the dispatches
   * rise by one.
   */
  takeOver(
    request: Omit<ClaimRequest, 'fingerprint' | 'dispatchesMax'> & { readonly from: string },
  ): Promise<
    | { readonly kind: 'taken'; readonly dispatches: number }
    | { readonly kind: 'refused'; readonly claim: Claim | undefined }
  >;
  read(ref: ClaimRef): Promise<Claim | undefined>;
}

/** Answers too large for a claim. Every method throws StoreError when it brought no definite answer. */
export interface ResponseStore {
  put(objectName: string, content: string): Promise<void>;
  /** Undefined when there is none. */
  get(objectName: string): Promise<string | undefined>;
}

/** A committed response without a charge record that carries its hash. */
export interface ExistingResponse {
  readonly holdId: string;
  readonly answer: StoredResponse;
}

/** For requests whose commit is not their charge but something they make, which is charged later. */
export interface Creations {
  /** What that request has made. Throws StoreError. */
  read(requestId: string): Promise<ExistingResponse | undefined>;
  /**
   * The same, and where there is nothing, makes sure that there never will be. Throws StoreError, and the 409 of a creation that is
   * still under way.
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

/** A request with an Idempotency-Key. */
export interface IdempotentRequest extends ClaimRef {
  /** Also the owner's name on the claim: it is never used twice. */
  readonly requestId: string;
  readonly fingerprint: string;
  /** A refusal as the client sees it. */
  readonly renderError: (error: GatewayError) => StoredResponse;
  /** Undefined where the charge is the commit. */
  readonly creations?: Creations | undefined;
}
