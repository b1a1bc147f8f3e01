import type { AccountStore, NewAccount } from '../../lambdas/core/accounts/account-store.ts';
import type { UpdateLog } from '../../lambdas/core/accounts/chats.ts';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import type { NewKey } from '../../lambdas/core/accounts/keys.ts';
import { type AccountAudit, auditAccount } from '../../lambdas/core/ledger/audit.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { createUpdateLog } from '../../lambdas/stores/dynamodb/update-log.ts';
import { createAccountStore as createSqliteAccounts } from '../../local/stores/sqlite/account-store.ts';
import { createKeyStore as createSqliteKeys } from '../../local/stores/sqlite/key-store.ts';
import { createLedgerRecords as createSqliteRecords } from '../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore as createSqliteLedger } from '../../local/stores/sqlite/ledger-store.ts';
import { createUpdateLog as createSqliteUpdates } from '../../local/stores/sqlite/update-log.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryAccountStore } from '../support/memory/memory-account-store.ts';
import { MemoryKeyStore } from '../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';
import { MemoryUpdateLog } from '../support/memory/memory-update-log.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the account store, with the ledger and key store that it also writes to. */
export interface AccountSubject {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly ledger: LedgerStore;
  readonly records: LedgerRecords;
  readonly updates: UpdateLog;
}

const memory = async (): Promise<AccountSubject> => {
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  return {
    accounts: new MemoryAccountStore(ledger, keys),
    keys,
    ledger,
    records: ledger,
    updates: new MemoryUpdateLog(),
  };
};

const sqlite = async (): Promise<AccountSubject> => {
  const db = await openTestDatabase();
  return {
    accounts: createSqliteAccounts(db),
    keys: createSqliteKeys(db),
    ledger: createSqliteLedger(db),
    records: createSqliteRecords(db),
    updates: createSqliteUpdates(db),
  };
};

export const openDatabase = async (): Promise<AccountSubject> => {
  const { clients, names } = await openTestTables();
  const { accounts, keys, counters } = names;
  return {
    accounts: createAccountStore(createDynamoDB(clients.repeating, Date.now), { accounts, keys }),
    keys: createKeyStore(createDatabases(clients), { accounts, keys }),
    ledger: createLedgerStore(createDatabases(clients), accounts),
    records: createLedgerRecords(createDynamoDB(clients.repeating, Date.now), accounts),
    updates: createUpdateLog(createDynamoDB(clients.repeating, Date.now), counters),
  };
};

export const accountSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: openDatabase }),
];

export const OPENED_AT_MS = Date.UTC(2026, 10, 1);

/** Returns a new key with this hash. */
export const keyNamed = (hash: string, isShown = false): NewKey => ({
  hash,
  label: { prefix: 'sk-service-abcd', lastFour: hash.slice(-4) },
  pepperId: 'pepper-1',
  isShown,
});

/** Returns an account to open. Account `a` has the chat `a-chat` and the key `a-key`. */
export const accountNamed = (accountId: string, changes: Partial<NewAccount> = {}): NewAccount => ({
  accountId,
  chatId: `${accountId}-chat`,
  key: keyNamed(`${accountId}-key`),
  creditPicos: 0n,
  atMs: OPENED_AT_MS,
  ...changes,
});

export const audit = ({ ledger, records }: AccountSubject, accountId: string): Promise<AccountAudit | undefined> =>
  auditAccount({ store: ledger, records, clock: systemClock }, accountId);
