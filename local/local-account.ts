import { randomBytes } from 'node:crypto';
import { hashesOf, makeApiKey, toMasked, toNewKey } from '../lambdas/core/accounts/keys.ts';
import { type Account, balanceOf, heldOf } from '../lambdas/core/ledger/ledger.ts';
import { accountIds } from '../lambdas/core/ledger/records.ts';
import { formatUsd, parseUsd } from '../lambdas/core/money/usd.ts';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { type DataFolder, hasRoom, readOrCreateSecret } from './data-folder.ts';

const ACCOUNT_ID = 'local';

/** Limit of the account list, because it reads each account. */
const LISTED_MAX = 200;

/** State of the stored API key. `replaced`: the account has a newer one, shown as `masked`. `revoked`: it has none. */
export type LocalKeyState =
  | { readonly kind: 'current' }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'replaced'; readonly masked: string };

export interface LocalAccount {
  readonly apiKey: string;
  readonly keyState: LocalKeyState;
  readonly balanceUsd: string;
  /** Part of the balance that open holds reserve, `0` without any. */
  readonly heldUsd: string;
}

export interface LocalAccountOptions {
  readonly deps: Pick<FunctionDependencies, 'accounts' | 'keys' | 'ledgerStore' | 'pepper' | 'olderPeppers' | 'clock'>;
  readonly folder: DataFolder;
  /** Used only when the account is made, like `balanceUsd`. */
  readonly apiKey: string | undefined;
  readonly balanceUsd: string;
}

/**
 * Returns the peppers, one per line. Creates the first pepper. Throws an Error if a folder with a database has lost
 * them, because a new pepper would make every API key invalid.
 */
export const readPepper = (folder: DataFolder): string =>
  readOrCreateSecret(folder, 'pepper', () => {
    if (hasRoom(folder.path, 'database')) {
      throw new Error(
        `${folder.path} has lost secrets/pepper, and no API key works without it. Restore it from a backup.`,
      );
    }
    return randomBytes(32).toString('hex');
  });

/** Opens the account `local`. If it does not exist, creates it with its key and its first credit. */
export const openLocalAccount = async (options: LocalAccountOptions): Promise<LocalAccount> => {
  const { deps, folder } = options;
  const { accounts, keys, ledgerStore, clock, pepper } = deps;
  const apiKey = readOrCreateSecret(folder, 'api-key', () => options.apiKey ?? makeApiKey(randomBytes(32)));
  await accounts.open({
    accountId: ACCOUNT_ID,
    chatId: undefined,
    key: toNewKey(pepper, apiKey, true),
    creditPicos: parseUsd(options.balanceUsd),
    atMs: clock.now(),
  });
  if (!(await keys.currentKey(ACCOUNT_ID)))
    throw new Error(
      'The database was created by an earlier version. Start once with --reset, which deletes the local data.',
    );
  const account = await ledgerStore.readAccount(ACCOUNT_ID);
  // The stored sweep time may be far in the future if it was set under other settings.
  if (account?.holds.size) await ledgerStore.sweepBy(ACCOUNT_ID, clock.now());
  const keyState = await readLocalKeyState(deps, apiKey);
  const balanceUsd = formatUsd(account ? balanceOf(account) : 0n);
  const heldUsd = formatUsd(account ? heldOf(account) : 0n);
  return { apiKey, keyState, balanceUsd, heldUsd };
};

/** Compares the API key with the account's current one. Any process may have replaced or revoked it by now. */
export const readLocalKeyState = async (
  { keys, ...peppers }: Pick<FunctionDependencies, 'keys' | 'pepper' | 'olderPeppers'>,
  apiKey: string,
): Promise<LocalKeyState> => {
  const current = await keys.currentKey(ACCOUNT_ID);
  if (!current || current.isRevoked) return { kind: 'revoked' };
  const { hash, label } = current;
  return hashesOf(peppers, apiKey).includes(hash) ? { kind: 'current' } : { kind: 'replaced', masked: toMasked(label) };
};

/** Returns the account `local` and up to 200 others, sorted by id. */
export const listAccounts = async ({
  ledgerRecords,
  ledgerStore,
}: Pick<FunctionDependencies, 'ledgerRecords' | 'ledgerStore'>): Promise<readonly Account[]> => {
  const ids: string[] = [];
  for await (const id of accountIds(ledgerRecords)) {
    if (id !== ACCOUNT_ID) ids.push(id);
    if (ids.length === LISTED_MAX) break;
  }
  const accounts = await Promise.all([ACCOUNT_ID, ...ids.sort()].map((id) => ledgerStore.readAccount(id)));
  return accounts.filter((account) => account !== undefined);
};
