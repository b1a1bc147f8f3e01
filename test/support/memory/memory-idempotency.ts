import type { IdempotencyDependencies } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { LedgerDependencies } from '../../../lambdas/core/ledger/ledger.ts';
import { MemoryAnswerStore } from './memory-answer-store.ts';
import { MemoryClaimStore } from './memory-claim-store.ts';

export const LEASE_MS = 60_000;

export const idempotencyOf = (ledger: LedgerDependencies) =>
  ({
    claims: new MemoryClaimStore(),
    answers: new MemoryAnswerStore(),
    ledger,
    leaseMs: LEASE_MS,
  }) satisfies IdempotencyDependencies;
