import type { IdempotencyPorts } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { LedgerPorts } from '../../../lambdas/core/ledger/ledger.ts';
import { MemoryAnswerStore } from './memory-answer-store.ts';
import { MemoryClaimStore } from './memory-claim-store.ts';

export const LEASE_MS = 60_000;

export const idempotencyOf = (ledger: LedgerPorts) =>
  ({
    claims: new MemoryClaimStore(),
    answers: new MemoryAnswerStore(),
    ledger,
    leaseMs: LEASE_MS,
  }) satisfies IdempotencyPorts;
