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

/** Number of attempts. An attempt fails if an API key changes while its account is being blocked. */
const TRIES = 5;

/**
 * Blocks or unblocks an account and its keys. Writes the keys even if the account already has the status, because a
 * manual edit may have missed them. `changing`: a key changed during every attempt, and nothing was written. Throws
 * StoreError.
 */
export const blockAccount = async (
  deps: BlockDependencies,
  accountId: string,
  isBlocked: boolean,
): Promise<'set' | 'no-account' | 'changing'> => {
  const { accounts, keys } = deps;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const { first, named, version } = await retryUntilDefinite(deps, () => keys.ring(accountId));
    const hashes = named.map(({ hash }) => hash);
    const reply = await retryUntilDefinite(deps, () =>
      accounts.setBlocked(accountId, isBlocked, first?.hash, { version, hashes }),
    );
    if (reply !== 'changed') return reply;
  }
  return 'changing';
};
