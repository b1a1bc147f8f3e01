import { parsePeppers } from '../../lambdas/core/accounts/keys.ts';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localTableNames } from '../../local/create-tables.ts';
import type { DataFolder } from '../../local/data-folder.ts';
import { openLocalAccount, readPepper } from '../../local/local-account.ts';

/** Opens the account `local` in an emulator of DynamoDB, with its API key and the pepper that hashes the key. */
export const openDynamodbAccount = async (endpoint: string, folder: DataFolder, balanceUsd: string) => {
  const clients = createClients({ endpoint, region: 'us-east-1' });
  const pepper = readPepper(folder);
  const deps = {
    accounts: createAccountStore(createDynamoDB(clients.repeating, Date.now), localTableNames),
    keys: createKeyStore(createDatabases(clients), localTableNames),
    ledgerStore: createLedgerStore(createDatabases(clients), localTableNames.accounts),
    clock: systemClock,
    ...parsePeppers(pepper),
  };
  const account = await openLocalAccount({ deps, folder, apiKey: undefined, balanceUsd });
  clients.once.destroy();
  clients.repeating.destroy();
  return { ...account, pepper };
};
