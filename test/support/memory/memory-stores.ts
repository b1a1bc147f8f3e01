import type { Parts } from '../../../lambdas/functions/wiring/parts.ts';
import { MemoryAnswerStore } from './memory-answer-store.ts';
import { MemoryCircuitStore } from './memory-circuit-store.ts';
import { MemoryClaimStore } from './memory-claim-store.ts';
import type { MemoryLedgerStore } from './memory-ledger-store.ts';
import { MemoryOutbox } from './memory-outbox.ts';
import { MemoryVideoFiles } from './memory-video-files.ts';
import { MemoryVideoJobs } from './memory-video-jobs.ts';
import { MemoryVideoMachine } from './memory-video-machine.ts';

/** Every store that stands beside the keys and the counters of addresses. */
export const memoryStores = (ledger: MemoryLedgerStore) =>
  ({
    ledgerStore: ledger,
    ledgerRecords: ledger,
    outbox: new MemoryOutbox(),
    claims: new MemoryClaimStore(),
    answers: new MemoryAnswerStore(),
    circuitStore: new MemoryCircuitStore(),
    videoJobs: new MemoryVideoJobs(),
    videoFiles: new MemoryVideoFiles(),
    videoMachine: new MemoryVideoMachine(),
  }) satisfies Partial<Parts>;

/** The names that settings ask for and memory does not. */
export const noTables = {
  ACCOUNTS_TABLE: 'accounts',
  KEYS_TABLE: 'keys',
  COUNTERS_TABLE: 'counters',
  IDEMPOTENCY_TABLE: 'idempotency',
  VIDEOS_TABLE: 'videos',
  MEDIA_BUCKET: 'media',
};
