import { createHash, randomBytes } from 'node:crypto';
import { hashApiKey, labelOf, makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import { type Account, balanceOf } from '../../lambdas/core/ledger/account.ts';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { putKey } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localTableNames } from './create-tables.ts';
import { type DataFolder, readOrCreateSecret } from './data-folder.ts';

const ACCOUNT_ID = 'local';
const FIRST_CREDIT = 'local-start';

export interface LocalAccount {
  readonly apiKey: string;
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
  const apiKey = readOrCreateSecret(folder, 'api-key', () => options.apiKey ?? makeApiKey(randomBytes(32)));
  const clients = createClients({ endpoint, region: 'us-east-1' });
  const ledger = createLedgerStore(clients, localTableNames.accounts);
  await ledger.createAccount(ACCOUNT_ID);
  const amountPicos = parseUsd(options.balanceUsd);
  if (amountPicos > 0n) {
    const at = Date.now();
    await ledger.credit({ accountId: ACCOUNT_ID, ref: FIRST_CREDIT, amountPicos, reason: 'first balance', at });
  }
  await putKey(clients.repeating, localTableNames.keys, {
    hash: hashApiKey(pepper, apiKey),
    accountId: ACCOUNT_ID,
    label: labelOf(apiKey),
    pepperId: createHash('sha256').update(pepper).digest('hex').slice(0, 8),
  });
  const account = await ledger.readAccount(ACCOUNT_ID);
  // A time to sweep that was set under other settings may be far off.
  await ledger.reschedule(ACCOUNT_ID, account?.holds.size ? Date.now() : undefined);
  clients.once.destroy();
  clients.repeating.destroy();
  return { apiKey, pepper, balanceUsd: formatUsd(balance(account)) };
};

const balance = (account: Account | undefined): bigint => (account ? balanceOf(account) : 0n);
