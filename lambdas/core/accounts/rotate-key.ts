import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { untilDefinite } from '../ledger/resolve.ts';
import type { AccountStore } from './account-store.ts';
import type { KeyLabel } from './api-key.ts';
import { type KeyPorts, keyIdOf, makeKey } from './new-key.ts';

export interface RotationPorts extends KeyPorts {
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface RotatedKey {
  /** Told once. */
  readonly apiKey: string;
  readonly id: string;
  readonly label: KeyLabel;
}

/**
 * KEY-2: a new key in place of the one that the caller knows. Of two at once one wins. Throws `key_already_rotated` to the other, also
 * when its key had been replaced before, `account_blocked`, and StoreError when the store did not say.
 */
export const rotateKey = async (
  ports: RotationPorts,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
): Promise<RotatedKey> => {
  const { accounts, clock } = ports;
  const current = await untilDefinite(ports, () => accounts.currentKey(accountId));
  if (!current || keyIdOf(current.hash) !== keyId) throw alreadyRotated();
  const { apiKey, key } = makeKey(ports, true);
  const replacement = { accountId, oldHash: current.hash, key, atMs: clock.now() };
  const reply = await untilDefinite(ports, () => accounts.replaceKey(replacement));
  if (reply === 'blocked') {
    throw new GatewayError('account_blocked', 'This account is blocked for a violation of the terms.');
  }
  // A write whose reply was lost finds its own key when it is repeated.
  if (reply === 'changed' && !(await isCurrent(ports, accountId, key.hash))) throw alreadyRotated();
  return { apiKey, id: keyIdOf(key.hash), label: key.label };
};

const isCurrent = async (ports: RotationPorts, accountId: string, hash: string): Promise<boolean> => {
  const current = await untilDefinite(ports, () => ports.accounts.currentKey(accountId));
  return current?.hash === hash;
};

const alreadyRotated = (): GatewayError =>
  new GatewayError('key_already_rotated', 'key_id: this key has been replaced already. Read the account again.', {
    param: 'key_id',
  });
