import { randomBytes } from 'node:crypto';
import type { FunctionDependencies } from '../../../lambdas/functions/wiring/dependencies.ts';
import { openFrontDoor } from '../../../lambdas/http/front-door.ts';
import { MemoryAccountStore } from './memory-account-store.ts';
import { MemoryAnswerStore } from './memory-answer-store.ts';
import { MemoryCircuitStore } from './memory-circuit-store.ts';
import { MemoryClaimStore } from './memory-claim-store.ts';
import type { MemoryKeyStore } from './memory-key-store.ts';
import type { MemoryLedgerStore } from './memory-ledger-store.ts';
import { MemoryMaintenanceStore } from './memory-maintenance-store.ts';
import { MemoryMediaStore } from './memory-media-store.ts';
import { MemoryOutbox } from './memory-outbox.ts';
import { MemoryPageFiles } from './memory-page-files.ts';
import { MemoryUpdateLog } from './memory-update-log.ts';
import { MemoryVideoFiles } from './memory-video-files.ts';
import { MemoryVideoJobs } from './memory-video-jobs.ts';
import { MemoryVideoMachine } from './memory-video-machine.ts';
import { MemoryWebhookSecrets } from './memory-webhook-secrets.ts';

/** Returns in-memory fakes of all stores except the rate limits of client IPs. */
export const memoryStores = (ledger: MemoryLedgerStore, keys: MemoryKeyStore) =>
  ({
    frontDoor: openFrontDoor,
    publicUrl: undefined,
    olderPeppers: [],
    ledgerStore: ledger,
    ledgerRecords: ledger,
    keys,
    accounts: new MemoryAccountStore(ledger, keys),
    updates: new MemoryUpdateLog(),
    pages: new MemoryPageFiles(),
    secrets: { botToken: '123456:token-of-the-tests', topUpKey: 'top-up-key-of-the-tests' },
    newKeyBytes: () => randomBytes(32),
    outbox: new MemoryOutbox(),
    maintenance: new MemoryMaintenanceStore(),
    claims: new MemoryClaimStore(),
    answers: new MemoryAnswerStore(),
    media: new MemoryMediaStore(),
    newMediaToken: createTokens(),
    circuitStore: new MemoryCircuitStore(),
    videoJobs: new MemoryVideoJobs(),
    videoFiles: new MemoryVideoFiles(),
    videoMachine: new MemoryVideoMachine(),
    webhookSecrets: new MemoryWebhookSecrets(),
  }) satisfies Partial<FunctionDependencies>;

/** Returns a generator of 1, 2, 3 and so on, as 32 hexadecimal digits. */
const createTokens = () => {
  let made = 0;
  return (): string => {
    made += 1;
    return made.toString(16).padStart(32, '0');
  };
};

/** Names that the settings require and the in-memory fakes ignore. */
export const noTables = {
  ACCOUNTS_TABLE: 'accounts',
  KEYS_TABLE: 'keys',
  COUNTERS_TABLE: 'counters',
  IDEMPOTENCY_TABLE: 'idempotency',
  VIDEOS_TABLE: 'videos',
  MEDIA_BUCKET: 'media',
  MEDIA_URL: 'https://media.example',
};
