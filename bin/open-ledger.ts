import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AuditStores } from '../lambdas/core/ledger/audit-reading.ts';
import { createLedgerRecords } from '../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../lib/local/create-tables.ts';
import { openDataFolder } from '../lib/local/data-folder.ts';
import { hasDynamodbData, runningDynamodb, startDynamodb } from '../lib/local/dynamodb-stand-in.ts';

export interface LedgerPlace {
  /** Of the accounts. */
  readonly table?: string | undefined;
  readonly endpoint?: string | undefined;
}

export interface OpenLedger extends AuditStores {
  /** One line for a person. */
  readonly where: string;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Nobody waits for an answer, so that a busy store is given time. */
const patience = { maxAttempts: 8 };

/**
 * The ledger that is named, else that of the environment, else that of the local gateway's data folder: through its own database while
 * that runs, and otherwise through one that is started until `close`.
 */
export const openLedger = async (place: LedgerPlace, environment: Environment): Promise<OpenLedger> => {
  const endpoint = place.endpoint || environment.DYNAMODB_ENDPOINT || undefined;
  const table = place.table || environment.ACCOUNTS_TABLE || undefined;
  if (endpoint === undefined && table === undefined) return openLocal(environment.DATA_DIR || '.local');
  return connect(endpoint, table ?? localTableNames.accounts);
};

const connect = (
  endpoint: string | undefined,
  table: string,
  alsoClose: () => Promise<void> = async () => undefined,
): OpenLedger => {
  const config = endpoint === undefined ? {} : localDynamodbConfig(endpoint);
  const client = new DynamoDBClient({ ...config, ...patience });
  return {
    store: createLedgerStore({ once: client, repeating: client }, table),
    records: createLedgerRecords(client, table),
    where: `table ${table}${endpoint === undefined ? '' : ` at ${endpoint}`}`,
    close: async () => {
      client.destroy();
      await alsoClose();
    },
  };
};

const openLocal = async (path: string): Promise<OpenLedger> => {
  const running = runningDynamodb(path);
  if (running !== undefined) return connect(running, localTableNames.accounts);
  if (!hasDynamodbData(path)) {
    throw new Error(
      `${path} holds no database of a local gateway. Name its folder by DATA_DIR, or a table by ACCOUNTS_TABLE.`,
    );
  }
  const folder = openDataFolder(path);
  try {
    const database = await startDynamodb({ folder, onExit: (message) => process.stderr.write(`${message}\n`) });
    return connect(database.endpoint, localTableNames.accounts, async () => {
      await database.stop();
      folder.close();
    });
  } catch (error) {
    folder.close();
    throw error;
  }
};
