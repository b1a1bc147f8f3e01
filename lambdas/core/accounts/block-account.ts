import type { Clock } from '../clock.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { AccountStore } from './account-store.ts';
import type { KeyStore } from './key-store.ts';

export interface BlockDependencies {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A key may be replaced while its account is being blocked. */
const TRIES = 5;

/**
 * Blocks an account with its key, or frees both: also where the account has that status, since its key may not have it when somebody
 * wrote to the tables by hand. `changing`: the key was another one each time, and nothing was changed. Throws StoreError.
 */
export const blockAccount = async (
  deps: BlockDependencies,
  accountId: string,
  isBlocked: boolean,
): Promise<'set' | 'no-account' | 'changing'> => {
  const { accounts, keys } = deps;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const key = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
    const reply = await retryUntilDefinite(deps, () => accounts.setBlocked(accountId, isBlocked, key?.hash));
    if (reply !== 'changed') return reply;
  }
  return 'changing';
};
