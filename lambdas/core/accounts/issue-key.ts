import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { AccountStore } from './account-store.ts';
import { inheritAllowance } from './daily-allowance.ts';
import type { CurrentKey } from './key-ring.ts';
import type { KeyStore } from './key-store.ts';
import { type KeyDependencies, type KeyLabel, keyIdOf, type MadeKey, makeKey } from './keys.ts';

export type Issued =
  | { readonly kind: 'issued'; readonly made: MadeKey }
  /** Another operator has issued an API key in the meantime. */
  | { readonly kind: 'has-key'; readonly current: CurrentKey }
  /** The account does not exist or is blocked, or its API key was replaced and revoked in the meantime. */
  | { readonly kind: 'refused' };

/** Dependencies of `issueKey`, which can also open the account. */
export interface IssueDependencies extends RotationDependencies {
  readonly accounts: AccountStore;
}

/**
 * Issues an API key for an account without a working one: its first key, a successor of a revoked key, or the key of a
 * new account. Throws StoreError.
 */
export const issueKey = async (
  deps: IssueDependencies,
  accountId: string,
  current: CurrentKey | undefined | 'new',
): Promise<Issued> => {
  const { accounts, keys, clock } = deps;
  const made = makeKey(deps, true);
  const { key } = made;
  const atMs = clock.now();
  const reply = await retryUntilDefinite(deps, (): Promise<Reply> => {
    if (current === 'new') return accounts.open({ accountId, chatId: undefined, key, creditPicos: 0n, atMs });
    if (!current) return keys.putFirstKey(accountId, key, atMs);
    return keys.replaceKey({ accountId, oldHash: current.hash, key, atMs });
  });
  if (reply === 'replaced' && typeof current === 'object') await inheritAllowance(keys, [current.hash], key.hash);
  if (isDone.has(reply)) return { kind: 'issued', made };
  // If the reply of the write was lost, the repeated write is rejected, and the current key is the new one.
  const now = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
  if (now?.hash === key.hash) return { kind: 'issued', made };
  return now && !now.isRevoked ? { kind: 'has-key', current: now } : { kind: 'refused' };
};

type Reply = Awaited<ReturnType<AccountStore['open'] | KeyStore['putFirstKey' | 'replaceKey']>>;

const isDone: ReadonlySet<Reply> = new Set(['opened', 'put', 'replaced']);

export interface RotationDependencies extends KeyDependencies {
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface RotatedKey {
  /** Shown to its owner once. */
  readonly apiKey: string;
  readonly id: string;
  readonly label: KeyLabel;
}

/**
 * KEY-2: replaces the API key that the caller knows. One of two concurrent rotations wins. Throws `key_already_rotated`
 * if the API key was already replaced, `account_blocked`, and StoreError if the result is unknown.
 */
export const rotateKey = async (
  deps: RotationDependencies,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
): Promise<RotatedKey> => {
  const { keys, clock } = deps;
  const current = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
  if (!current || keyIdOf(current.hash) !== keyId) throw alreadyRotated();
  const { apiKey, key } = makeKey(deps, true);
  const replacement = { accountId, oldHash: current.hash, key, atMs: clock.now() };
  const reply = await retryUntilDefinite(deps, () => keys.replaceKey(replacement));
  if (reply === 'blocked') {
    throw new GatewayError(
      'account_blocked',
      'This account is blocked for a violation of the terms. Contact the operator of this service.',
    );
  }
  // If the reply of the write was lost, the repeated write returns `changed`, and the current key is the new one.
  if (reply === 'changed' && !(await isCurrent(deps, accountId, key.hash))) throw alreadyRotated();
  await inheritAllowance(keys, [current.hash], key.hash);
  return { apiKey, id: keyIdOf(key.hash), label: key.label };
};

const isCurrent = async (deps: RotationDependencies, accountId: string, hash: string): Promise<boolean> => {
  const current = await retryUntilDefinite(deps, () => deps.keys.currentKey(accountId));
  return current?.hash === hash;
};

const alreadyRotated = (): GatewayError =>
  new GatewayError('key_already_rotated', 'key_id: this key was already replaced. Read the account again.', {
    param: 'key_id',
  });
