import type { GatewayError } from '../errors/gateway-error.ts';
import type { LedgerPorts } from '../ledger/ledger-ports.ts';
import type { AnswerStore, ClaimRef, ClaimStore, StoredAnswer } from './claim-store.ts';

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
}
