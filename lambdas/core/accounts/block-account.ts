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

/** Number of attempts. An attempt fails if the API key is replaced while its account is being blocked. */
const TRIES = 5;

/**
 * Blocks or unblocks an account and its key. Writes the key even if the account already has the status, because a
 * manual edit may have missed it. `changing`: the key changed during every attempt, and nothing was written. Throws
 * StoreError.
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
