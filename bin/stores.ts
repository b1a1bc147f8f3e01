import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AccountStore } from '../lambdas/core/accounts/account-store.ts';
import type { LedgerRecords } from '../lambdas/core/ledger/ledger-records.ts';
import type { LedgerStore } from '../lambdas/core/ledger/ledger-store.ts';
import type { OperationLog } from '../lambdas/core/ledger/operation-log.ts';
import type { VideoJobStore } from '../lambdas/core/videos/job-store.ts';
import { createAccountStore } from '../lambdas/stores/dynamodb/account-store.ts';
import { createLedgerRecords } from '../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../lambdas/stores/dynamodb/ledger-store.ts';
import { createOperationLog } from '../lambdas/stores/dynamodb/operation-log.ts';
import { createVideoJobStore } from '../lambdas/stores/dynamodb/video-job-store.ts';
import type { TableName } from '../lib/tables.ts';
import { localDynamodbConfig, localTableNames } from '../local/create-tables.ts';
import { type Bucket, type BucketOptions, openBucket } from './bucket.ts';
import { misused } from './exit.ts';
import { tableVariables } from './place-stack.ts';

export interface Stores {
  readonly client: DynamoDBClient;
  readonly ledger: LedgerStore;
  readonly records: LedgerRecords;
  readonly operations: OperationLog;
  /** These throw where the name of their table or bucket is not known. */
  readonly accounts: AccountStore;
  readonly videoJobs: VideoJobStore;
  readonly bucket: Bucket;
  table(name: TableName): string;
  close(): Promise<void>;
}

/** Nobody waits for an answer, so that a busy store is given time. */
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
    throw misused(
      `${tableVariables[name]}: is not set, and the table is needed. Set it, or name an environment by --env.`,
    );
  };
  let bucket: Bucket | undefined;
  const accountsTable = table('accounts');
  return {
    client,
    table,
    // Holds, which may go over the wire once only, are placed by nobody here.
    ledger: createLedgerStore({ once: client, repeating: client }, accountsTable),
    records: createLedgerRecords(client, accountsTable),
    operations: createOperationLog(client, accountsTable),
    get accounts() {
      return createAccountStore(client, { accounts: accountsTable, keys: table('keys') });
    },
    get videoJobs() {
      return createVideoJobStore(client, table('videos'));
    },
    get bucket() {
      bucket ??= openBucket(options);
      return bucket;
    },
    close: async () => {
      await bucket?.close();
      client.destroy();
    },
  };
};
