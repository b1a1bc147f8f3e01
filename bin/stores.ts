import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AccountStore } from '../lambdas/core/accounts/account-store.ts';
import type { KeyStore } from '../lambdas/core/accounts/key-store.ts';
import type { LedgerStore, Outbox } from '../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords, OperationLog } from '../lambdas/core/ledger/records.ts';
import type { OutboxHistory } from '../lambdas/core/ledger/replay.ts';
import type { MaintenanceStore } from '../lambdas/core/maintenance.ts';
import type { VideoFiles } from '../lambdas/core/videos/dependencies.ts';
import type { VideoJobStore } from '../lambdas/core/videos/video-job.ts';
import { createDatabases } from '../lambdas/functions/wiring/clients.ts';
import { createAccountStore } from '../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerRecords, createOperationLog } from '../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../lambdas/stores/dynamodb/ledger-store.ts';
import { createMaintenanceStore } from '../lambdas/stores/dynamodb/maintenance-store.ts';
import { createVideoJobStore } from '../lambdas/stores/dynamodb/video-job-store.ts';
import type { TableName } from '../lib/tables.ts';
import { localDynamodbConfig, localTableNames } from '../local/create-tables.ts';
import { joinDataFolder } from '../local/data-folder.ts';
import type { Beat } from '../local/stores/sqlite/heartbeats.ts';
import { type Bucket, type BucketOptions, openBucket } from './bucket.ts';
import { misused } from './exit.ts';
import { tableVariables } from './place-stack.ts';

export interface Stores {
  readonly ledger: LedgerStore;
  readonly records: LedgerRecords;
  readonly operations: OperationLog;
  /** This and the following stores throw a CliError on access if the name of their table or bucket is unknown. */
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly videoJobs: VideoJobStore;
  readonly outbox: Outbox;
  /** Undefined for embedded stores, which keep no removed entries. */
  readonly outboxHistory: OutboxHistory | undefined;
  readonly videoFiles: VideoFiles;
  readonly maintenance: MaintenanceStore;
  /** AWS clients and names; undefined for embedded stores. */
  readonly aws: AwsStores | undefined;
  /** Clocks of the gateways that use the data folder. Undefined in AWS. */
  readonly beats?: (() => readonly Beat[]) | undefined;
  /** Codes of parts that do not work, as in `GET /health`. Always empty in AWS. */
  problems(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Tables, bucket and client that `doctor` checks, in AWS or in emulators. */
export interface AwsStores {
  readonly client: DynamoDBClient;
  readonly bucket: Bucket;
  table(name: TableName): string;
}

/** Opens the stores of a local gateway, which may be running. Throws an Error with a message of one sentence. */
export const openEmbedded = async (dataFolder: string): Promise<Stores> => {
  // Import this on use: other gateways need neither SQLite nor files.
  const { openEmbeddedStores } = await import('../local/embedded-stores.ts');
  const { readBeats } = await import('../local/stores/sqlite/heartbeats.ts');
  const folder = joinDataFolder(dataFolder);
  try {
    const stores = await openEmbeddedStores(folder.room('database'), { filesFolder: folder.room('files') });
    const { ledgerStore, ledgerRecords, accounts, keys, videoJobs, outbox, videoFiles, maintenance } = stores.deps;
    return {
      ledger: ledgerStore,
      records: ledgerRecords,
      operations: stores.operations,
      accounts,
      keys,
      videoJobs,
      outbox,
      outboxHistory: undefined,
      videoFiles,
      maintenance,
      aws: undefined,
      beats: () => readBeats(stores.db),
      problems: stores.problems,
      close: async () => {
        await stores.close();
        folder.close();
      },
    };
  } catch (error) {
    folder.close();
    throw error;
  }
};

/** More retries and longer timeouts than in a function, because no client waits for the response. */
const patience = {
  maxAttempts: 8,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

export const openStores = (options: BucketOptions): Stores => {
  const { environment, isLocal } = options;
  const { DYNAMODB_ENDPOINT: endpoint, AWS_REGION: region } = environment;
  const client = new DynamoDBClient({
    ...(endpoint ? localDynamodbConfig(endpoint) : { ...(region ? { region } : {}) }),
    ...patience,
  });
  const table = (name: TableName): string => {
    const found = environment[tableVariables[name]] || (isLocal ? localTableNames[name] : undefined);
    if (found) return found;
    throw misused(`${tableVariables[name]}: not set. Set it, or choose an environment with --env.`);
  };
  let bucket: Bucket | undefined;
  const open = (): Bucket => {
    bucket ??= openBucket(options);
    return bucket;
  };
  const accountsTable = table('accounts');
  // Only holds and the rate limit need a client without retries. The command line uses neither.
  const databases = createDatabases({ once: client, repeating: client });
  return {
    ledger: createLedgerStore(databases, accountsTable),
    records: createLedgerRecords(createDynamoDB(client, Date.now), accountsTable),
    operations: createOperationLog(createDynamoDB(client, Date.now), accountsTable),
    get accounts() {
      return createAccountStore(createDynamoDB(client, Date.now), { accounts: accountsTable, keys: table('keys') });
    },
    get keys() {
      return createKeyStore(databases, { accounts: accountsTable, keys: table('keys') });
    },
    get videoJobs() {
      return createVideoJobStore(createDynamoDB(client, Date.now), table('videos'));
    },
    get maintenance() {
      return createMaintenanceStore(createDynamoDB(client, Date.now), table('counters'));
    },
    get outbox() {
      return open().outbox;
    },
    get outboxHistory() {
      return open().outboxHistory;
    },
    get videoFiles() {
      return open().videoFiles;
    },
    aws: {
      client,
      table,
      get bucket() {
        return open();
      },
    },
    problems: async () => [],
    close: async () => {
      await bucket?.close();
      client.destroy();
    },
  };
};
