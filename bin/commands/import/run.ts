import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import {
  hashesOf,
  type KeyDependencies,
  makeKey,
  type Peppers,
  toNewKey,
} from '../../../lambdas/core/accounts/keys.ts';
import type { Clock } from '../../../lambdas/core/clock.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger.ts';
import { balanceOf } from '../../../lambdas/core/ledger/ledger.ts';
import { retryUntilDefinite } from '../../../lambdas/core/retry.ts';
import { failed } from '../../exit.ts';
import type { KeyFile } from './key-file.ts';
import { type PlannedRow, refOf } from './plan.ts';

export interface ImportDependencies {
  readonly ledger: Pick<LedgerStore, 'readAccount' | 'credit'>;
  readonly accounts: Pick<AccountStore, 'open'>;
  readonly keyStore: Pick<KeyStore, 'currentKey'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Dependencies for keys of new accounts; undefined without a key file. */
  readonly keys: (KeyDependencies & Peppers & { readonly file: KeyFile }) | undefined;
}

export interface Batch {
  readonly ref: string;
  readonly reason: string;
}

/**
 * Imports one row and returns the balance afterwards in pico-USD. A repeat after a crash at any point is safe: the key
 * is in its file before it is in the table, the account is opened together with its key, and the credit has its own
 * reference. Throws StoreError, or a CliError if another process changed the account.
 */
export const importRow = async (
  deps: ImportDependencies,
  { ref: batch, reason }: Batch,
  row: PlannedRow,
): Promise<bigint> => {
  const { ledger, clock } = deps;
  if (row.opens) await openAccount(deps, row);
  const request = {
    accountId: row.account,
    ref: refOf(batch, row),
    amountPicos: row.balancePicos,
    reason,
    at: clock.now(),
  };
  const reply = await retryUntilDefinite(deps, () => ledger.credit(request));
  if (reply.kind !== 'credited' && reply.kind !== 'repeated') {
    throw failed(`line ${row.line}: another process changed ${row.account}. Run the same import again.`);
  }
  const account = await retryUntilDefinite(deps, () => ledger.readAccount(row.account));
  return account ? balanceOf(account) : row.balancePicos;
};

const openAccount = async (
  deps: ImportDependencies,
  { account: accountId, chatId, line }: PlannedRow,
): Promise<void> => {
  const { accounts, keyStore, clock, keys } = deps;
  if (!keys) throw new Error('The row opens an account, but there is no key file.');
  const apiKey = keys.file.keyOf(accountId) ?? addKey(keys, accountId);
  const key = toNewKey(keys.pepper, apiKey, true);
  const account = { accountId, chatId, key, creditPicos: 0n, atMs: clock.now() };
  const reply = await retryUntilDefinite(deps, () => accounts.open(account));
  if (reply === 'opened') return;
  // If the response to an earlier `open` was lost, the account already has the key from the file. The key may have been
  // hashed with a pepper that was replaced since.
  const current = await retryUntilDefinite(deps, () => keyStore.currentKey(accountId));
  if (!current || !hashesOf(keys, apiKey).includes(current.hash)) {
    throw failed(
      `line ${line}: another process opened ${accountId} or an account for its chat. Run the same import again.`,
    );
  }
};

const addKey = (keys: NonNullable<ImportDependencies['keys']>, accountId: string): string => {
  const { apiKey } = makeKey(keys, true);
  keys.file.add(accountId, apiKey);
  return apiKey;
};

/** Returns the accounts whose key in the file no longer works. Throws StoreError. */
export const staleKeys = async ({ keyStore, keys }: ImportDependencies): Promise<readonly string[]> => {
  const stale: string[] = [];
  for (const [account, apiKey] of keys?.file.entries() ?? []) {
    const current = await keyStore.currentKey(account);
    if (!keys || current?.isRevoked !== false || !hashesOf(keys, apiKey).includes(current.hash)) stale.push(account);
  }
  return stale;
};
