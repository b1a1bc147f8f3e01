import type { GatewayError } from '../errors/gateway-error.ts';
import type { LedgerPorts } from '../ledger/ledger.ts';
import type { AnswerStore, ClaimRef, ClaimStore, StoredAnswer } from './claim-store.ts';

/** An answer that stands without a charge record that carries its hash. */
export interface StandingAnswer {
  readonly holdId: string;
  readonly answer: StoredAnswer;
}

/** For requests whose commit is not their charge but something they make, which is charged later. */
export interface Creations {
  /** What that request has made. Throws StoreError. */
  read(requestId: string): Promise<StandingAnswer | undefined>;
  /**
   * The same, and where there is nothing, makes sure that there never will be. Throws StoreError, and the 409 of a creation that is
   * still under way.
   */
  close(requestId: string): Promise<StandingAnswer | undefined>;
}

export interface IdempotencyPorts {
  readonly claims: ClaimStore;
  readonly answers: AnswerStore;
  readonly ledger: LedgerPorts;
  /** How long a claim is its owner's without a sign of life (IDEM-8). */
  readonly leaseMs: number;
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest extends ClaimRef {
  /** Also the owner's name on the claim: it is never used twice. */
  readonly requestId: string;
  readonly fingerprint: string;
  /** A refusal as the client sees it. */
  readonly renderError: (error: GatewayError) => StoredAnswer;
  /** Undefined where the charge is the commit. */
  readonly creations?: Creations | undefined;
}
