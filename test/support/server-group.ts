import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { catalogData } from '../../catalog/index.ts';
import { createAccountKey } from '../../lambdas/core/accounts/account-keys.ts';
import type { NewKeyChange } from '../../lambdas/core/accounts/key-change.ts';
import { hashApiKey, keyIdOf, labelOf, makeApiKey } from '../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { type AccountAudit, auditAccount } from '../../lambdas/core/ledger/audit.ts';
import type { ChargeRecord, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { openDataFolder, readOrCreateSecret } from '../../local/data-folder.ts';
import { startTestDynamodb } from './dynamodb.ts';
import { startTestBucket } from './fault-proxy-bucket.ts';
import { startGateway } from './gateway.ts';
import type { Environment } from './gateway-process.ts';
import type { TestProgram } from './program.ts';
import { putKey } from './put-key.ts';

/** Account in the shared store, which every server can use. */
export interface GroupAccount {
  readonly accountId: string;
  readonly apiKey: string;
  /** Hash of the API key in the table of API keys. */
  readonly keyHash: string;
}

/** Named API key of a group account. */
export interface GroupKey extends GroupAccount {
  readonly keyId: string;
}

export interface ServerOptions {
  readonly vendorUrl: string;
  /** Folder of an ended server of this group. By default a new folder. */
  readonly folder?: string | undefined;
  /** URL of the database, to go through a proxy. By default the real one. The same applies to `bucketUrl`. */
  readonly databaseUrl?: string | undefined;
  readonly bucketUrl?: string | undefined;
  readonly environment?: Environment | undefined;
}

/** One database and one bucket, shared by the servers that a test starts. */
export interface ServerGroup {
  readonly databaseUrl: string;
  readonly bucketUrl: string;
  /** Store that accesses the database directly, without a proxy. */
  readonly store: LedgerStore;
  start(options: ServerOptions): Promise<TestProgram>;
  openAccount(accountId: string, fundsPicos: bigint): Promise<GroupAccount>;
  /** Adds a named key to an account, as its owner does (KEY-8). */
  addKey(accountId: string, wanted: NewKeyChange): Promise<GroupKey>;
  audit(accountId: string): Promise<AccountAudit>;
  recordsOf(accountId: string): Promise<readonly ChargeRecord[]>;
  stop(): Promise<void>;
}

const RECORDS_AT_ONCE = 1_000;

export async function startServerGroup(): Promise<ServerGroup> {
  const [database, bucket] = await Promise.all([startTestDynamodb(), startTestBucket()]);
  // The client retries more often than a server's, so that reads of the test do not fail on a busy machine.
  const client = new DynamoDBClient({ ...localDynamodbConfig(database.endpoint), maxAttempts: 8 });
  const databases = createDatabases({ once: client, repeating: client });
  const store = createLedgerStore(databases, localTableNames.accounts);
  const records = createLedgerRecords(createDynamoDB(client, Date.now), localTableNames.accounts);
  const root = mkdtempSync(join(tmpdir(), 'gateway-group-'));
  const secrets = { pepper: randomBytes(32).toString('hex'), 'api-key': makeApiKey(randomBytes(32)) };
  const running = new Set<TestProgram>();
  const keys = {
    keys: createKeyStore(databases, localTableNames),
    ledgerStore: store,
    catalog: loadCatalog(catalogData),
    keyBucket: bucketOf(1_000, 1_000_000),
    clock: systemClock,
    random: Math.random,
    pepper: secrets.pepper,
    newKeyBytes: () => randomBytes(32),
  };

  const newFolder = (): string => {
    const folder = openDataFolder(mkdtempSync(join(root, 'server-')));
    for (const [name, secret] of Object.entries(secrets)) readOrCreateSecret(folder, name, () => secret);
    folder.close();
    return folder.path;
  };
  return {
    databaseUrl: database.endpoint,
    bucketUrl: bucket.endpoint,
    store,
    async start({ vendorUrl, folder = newFolder(), databaseUrl, bucketUrl, environment }) {
      const stores = {
        DYNAMODB_ENDPOINT: databaseUrl ?? database.endpoint,
        S3_ENDPOINT: bucketUrl ?? bucket.endpoint,
      };
      const gateway = await startGateway({
        stores: 'engine',
        vendorUrl,
        folder,
        environment: { ...stores, ...environment },
      });
      running.add(gateway);
      return gateway;
    },
    async openAccount(accountId, fundsPicos) {
      const apiKey = makeApiKey(randomBytes(32));
      const keyHash = hashApiKey(secrets.pepper, apiKey);
      await store.createAccount(accountId, Date.now());
      await store.credit({ accountId, ref: 'first', amountPicos: fundsPicos, reason: 'test', at: 0 });
      await putKey(client, localTableNames.keys, {
        hash: keyHash,
        accountId,
        label: labelOf(apiKey),
        pepperId: '1',
      });
      return { accountId, apiKey, keyHash };
    },
    async addKey(accountId, wanted) {
      const { apiKey, key } = await createAccountKey(keys, { accountId, actor: 'owner' }, wanted);
      return { accountId, apiKey, keyHash: key.hash, keyId: keyIdOf(key.hash) };
    },
    async audit(accountId) {
      const audited = await auditAccount({ store, records, clock: systemClock }, accountId);
      if (!audited) throw new Error(`there is no account ${accountId}`);
      return audited;
    },
    recordsOf: (accountId) => allRecords(records, accountId),
    async stop() {
      await Promise.all([...running].map((gateway) => gateway.stop()));
      client.destroy();
      await Promise.all([database.stop(), bucket.stop()]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function allRecords(source: LedgerRecords, accountId: string): Promise<readonly ChargeRecord[]> {
  const found: ChargeRecord[] = [];
  for (;;) {
    const { records, more } = await source.listRecords(accountId, {
      limit: RECORDS_AT_ONCE,
      beforeHoldId: found.at(-1)?.holdId,
    });
    found.push(...records);
    if (!more) return found;
  }
}
