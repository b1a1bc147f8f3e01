import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../lambdas/core/clock.ts';
import { StoreError } from '../lambdas/core/errors/store-error.ts';
import type { AuditCursor } from '../lambdas/core/ledger/audit-run.ts';
import type { OperationLog } from '../lambdas/core/ledger/records.ts';
import { ServedHolds } from '../lambdas/core/ledger/served-holds.ts';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { DiskSpace } from './stores/disk-space.ts';
import { openFileStores } from './stores/files/file-stores.ts';
import { createAccountStore } from './stores/sqlite/account-store.ts';
import { createCircuitStore } from './stores/sqlite/circuit-store.ts';
import { createClaimStore } from './stores/sqlite/claim-store.ts';
import { Database } from './stores/sqlite/database.ts';
import { createAuditCursor, createMaintenanceStore } from './stores/sqlite/facts.ts';
import { createAddressCounters, createKeyStore } from './stores/sqlite/key-store.ts';
import { createLedgerRecords, createOperationLog } from './stores/sqlite/ledger-records.ts';
import { type AccountChange, createLedgerStore } from './stores/sqlite/ledger-store.ts';
import { prune } from './stores/sqlite/prune.ts';
import { createUpdateLog } from './stores/sqlite/update-log.ts';
import { createVideoJobStore } from './stores/sqlite/video-job-store.ts';
import { createVideoLeases, type VideoLeases } from './stores/sqlite/video-leases.ts';
import { createWebhookSecretStore } from './stores/sqlite/webhook-secret-store.ts';

export const DATABASE_FILE = 'gateway.db';

const FILES_EVERY_MS = 3_600_000;

type StoreNames =
  | 'ledgerStore'
  | 'ledgerRecords'
  | 'outbox'
  | 'servedHolds'
  | 'maintenance'
  | 'circuitStore'
  | 'videoJobs'
  | 'videoFiles'
  | 'keys'
  | 'accounts'
  | 'updates'
  | 'addressCounters'
  | 'claims'
  | 'answers'
  | 'media'
  | 'webhookSecrets';

export interface EmbeddedStores {
  readonly db: Database;
  readonly deps: Pick<FunctionDependencies, StoreNames>;
  readonly operations: OperationLog;
  readonly auditCursor: AuditCursor;
  readonly videoLeases: VideoLeases;
  /** Removes what has expired. */
  prune(nowMs: number): Promise<void>;
  /** Codes of the parts that do not work at the moment. Writes to the database to find out. */
  problems(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface EmbeddedStoresOptions {
  /** Folder of the outbox, stored responses, images and videos. */
  readonly filesFolder: string;
  /**
   * Whether opening checks a database of up to 256 MiB for damage. Otherwise the first call that meets the damage finds
   * it.
   */
  readonly isVerified?: boolean | undefined;
  /** Clock of the leases of videos. Undefined: the clock of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Called after each write of an account by this process. */
  readonly onChange?: (change: AccountChange) => void;
}

/**
 * Opens the database and the files, and creates what does not exist. Throws an Error that names the file or folder and
 * the reason.
 */
export const openEmbeddedStores = async (
  databaseFolder: string,
  { filesFolder, isVerified, clock = { now: Date.now }, onChange }: EmbeddedStoresOptions,
): Promise<EmbeddedStores> => {
  const disk = await DiskSpace.open({ folder: databaseFolder });
  const onFull = (): boolean => disk.onFull();
  const db = await Database.open({ path: join(databaseFolder, DATABASE_FILE), isVerified, onFull });
  const files = await openFileStores({
    folder: filesFolder,
    onFull,
    checkReserve: () => disk.checkReserve(),
    holdsDurable: () => db.durable(),
  });
  let filesAtMs = 0;
  return {
    db,
    deps: {
      ledgerStore: createLedgerStore(db, { onChange, checkRoom: () => disk.checkRoom() }),
      ledgerRecords: createLedgerRecords(db),
      circuitStore: createCircuitStore(db),
      videoJobs: createVideoJobStore(db),
      keys: createKeyStore(db),
      accounts: createAccountStore(db, { onChange }),
      updates: createUpdateLog(db),
      addressCounters: createAddressCounters(db),
      claims: createClaimStore(db),
      outbox: files.outbox,
      servedHolds: new ServedHolds(() => performance.now()),
      maintenance: createMaintenanceStore(db),
      answers: files.answers,
      media: files.media,
      webhookSecrets: createWebhookSecretStore(db),
      videoFiles: files.videos,
    },
    operations: createOperationLog(db),
    auditCursor: createAuditCursor(db),
    videoLeases: createVideoLeases(db, randomUUID(), clock),
    prune: async (nowMs) => {
      await prune(db, nowMs);
      // `removeExpired` looks at every file, so it runs less often.
      if (nowMs < filesAtMs) return;
      filesAtMs = nowMs + FILES_EVERY_MS;
      await files.removeExpired(nowMs);
    },
    problems: async () => {
      // Skips the test write while space is low: on a full disk the failed write would free the spare file, whose space
      // is for writes that complete work in progress (DiskSpace).
      const works = disk.isLow || (await canWrite(db));
      if (disk.isLow) return ['disk_space'];
      return works ? [] : ['database'];
    },
    close: async () => {
      await disk.close();
      await db.close();
    },
  };
};

/**
 * Tests whether a write becomes durable. Writes a new value each time, because SQLite does not write a page that stays
 * the same.
 */
const canWrite = async (db: Database): Promise<boolean> => {
  try {
    await db.writeDurably(() =>
      db
        .sql("INSERT INTO facts (name, value) VALUES ('health', ?) ON CONFLICT DO UPDATE SET value = excluded.value")
        .run(randomUUID()),
    );
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
};
