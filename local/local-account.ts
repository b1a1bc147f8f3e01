import { randomBytes } from 'node:crypto';
import { makeApiKey } from '../lambdas/core/accounts/api-key.ts';
import { toNewKey } from '../lambdas/core/accounts/new-key.ts';
import { hashesOf, parsePeppers } from '../lambdas/core/accounts/peppers.ts';
import { type Account, balanceOf } from '../lambdas/core/ledger/account.ts';
import { formatUsd, parseUsd } from '../lambdas/core/money/usd.ts';
import { createClients } from '../lambdas/functions/wiring/dynamodb-clients.ts';
import { createAccountStore } from '../lambdas/stores/dynamodb/account-store.ts';
import { createLedgerStore } from '../lambdas/stores/dynamodb/ledger-store.ts';
import { localTableNames } from './create-tables.ts';
import { type DataFolder, readOrCreateSecret } from './data-folder.ts';

const ACCOUNT_ID = 'local';

export interface LocalAccount {
  readonly apiKey: string;
  /** Nobody has replaced it since. */
  readonly isCurrent: boolean;
  /** All of them, one on each line. */
  readonly pepper: string;
  readonly balanceUsd: string;
}

export interface LocalAccountOptions {
  readonly endpoint: string;
  readonly folder: DataFolder;
  /** Both count when the account is made, and never again. */
  readonly apiKey: string | undefined;
  readonly balanceUsd: string;
}

/** The one account of this machine, with its key and its first credit. Repeating it changes nothing. */
export const openLocalAccount = async (options: LocalAccountOptions): Promise<LocalAccount> => {
  const { endpoint, folder } = options;
  const pepper = readOrCreateSecret(folder, 'pepper', () => randomBytes(32).toString('hex'));
  const peppers = parsePeppers(pepper);
  const apiKey = readOrCreateSecret(folder, 'api-key', () => options.apiKey ?? makeApiKey(randomBytes(32)));
  const clients = createClients({ endpoint, region: 'us-east-1' });
  const ledger = createLedgerStore(clients, localTableNames.accounts);
  const accounts = createAccountStore(clients.repeating, localTableNames);
  await accounts.open({
    accountId: ACCOUNT_ID,
    chatId: undefined,
    key: toNewKey(peppers.pepper, apiKey, true),
    creditPicos: parseUsd(options.balanceUsd),
    atMs: Date.now(),
  });
  const current = await accounts.currentKey(ACCOUNT_ID);
  if (!current) throw new Error('The database is of an earlier version. Start once with --reset.');
  const account = await ledger.readAccount(ACCOUNT_ID);
  // A time to sweep that was set under other settings may be far off.
  await ledger.reschedule(ACCOUNT_ID, account?.holds.size ? Date.now() : undefined);
  clients.once.destroy();
  clients.repeating.destroy();
  const isCurrent = hashesOf(peppers, apiKey).includes(current.hash) && !current.isRevoked;
  return { apiKey, isCurrent, pepper, balanceUsd: formatUsd(balance(account)) };
};

const balance = (account: Account | undefined): bigint => (account ? balanceOf(account) : 0n);
