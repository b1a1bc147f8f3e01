import { retryUntilDefinite } from '../retry.ts';
import type { Chat } from './account-store.ts';
import type { IssueDependencies } from './issue-key.ts';
import { type KeyLabel, makeKey } from './keys.ts';

export interface StartDependencies extends IssueDependencies {
  readonly newAccountId: () => string;
  /** What an account has when it begins. Pico-USD. */
  readonly startCreditPicos: bigint;
}

export type Started =
  /** A key to show now. After that, `markShown` keeps the next start from replacing it. */
  | { readonly kind: 'key'; readonly accountId: string; readonly apiKey: string; readonly hash: string }
  | { readonly kind: 'had-key'; readonly accountId: string; readonly label: KeyLabel }
  | { readonly kind: 'revoked' | 'blocked'; readonly accountId: string };

/**
 * KEY-1: the account of a chat with its first key. A key that its owner may never have seen, since the message with it was not taken,
 * is replaced by another one. Throws StoreError.
 */
export const startChat = async (deps: StartDependencies, chatId: string): Promise<Started> => {
  const { accounts, keys, clock, newAccountId, startCreditPicos } = deps;
  const known = await retryUntilDefinite(deps, () => accounts.chat(chatId));
  if (known) return ofKnown(deps, known);
  const { apiKey, key } = makeKey(deps, false);
  const account = { accountId: newAccountId(), chatId, key, creditPicos: startCreditPicos, atMs: clock.now() };
  await retryUntilDefinite(deps, () => accounts.open(account));
  // Another start may have come first, or have replaced this key. A repeated write finds its own result.
  const current = await retryUntilDefinite(deps, () => keys.currentKey(account.accountId));
  if (current?.hash === key.hash) return { kind: 'key', accountId: account.accountId, apiKey, hash: key.hash };
  const chat = await retryUntilDefinite(deps, () => accounts.chat(chatId));
  if (!chat) throw new Error('a chat that was opened is missing');
  return ofKnown(deps, chat);
};

const ofKnown = async (deps: StartDependencies, { accountId }: Chat): Promise<Started> => {
  const { keys, clock } = deps;
  const current = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
  if (!current || current.isRevoked) return { kind: 'revoked', accountId };
  if (current.isShown) return { kind: 'had-key', accountId, label: current.label };
  const { apiKey, key } = makeKey(deps, false);
  const replacement = { accountId, oldHash: current.hash, key, atMs: clock.now() };
  const reply = await retryUntilDefinite(deps, () => keys.replaceKey(replacement));
  if (reply === 'blocked') return { kind: 'blocked', accountId };
  const after = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
  if (after?.hash === key.hash) return { kind: 'key', accountId, apiKey, hash: key.hash };
  if (!after || after.isRevoked) return { kind: 'revoked', accountId };
  // Another start replaced the key in the meantime, and shows its own.
  return { kind: 'had-key', accountId, label: after.label };
};

/** Lease of an update, in ms. Other deliveries cannot claim the update until the lease expires or is released. */
export const UPDATE_LEASE_MS = 60_000;

/** An update by its number, or the chat that is being started. Only one message at a time may show a key. */
export type TurnKey = `update#${number}` | `start#${number}`;

/** Updates of the messenger that are done. The messenger delivers an update again until it is confirmed (KEY-1). */
export interface UpdateLog {
  /** `busy`: another delivery works on it, or failed less than a lease ago. Throws StoreError. */
  claim(key: TurnKey, nowMs: number): Promise<'claimed' | 'busy' | 'done'>;
  /** For good. Throws StoreError. */
  finish(key: TurnKey, nowMs: number): Promise<void>;
  /** Lets the next delivery claim the update immediately, unless it is finished. Throws StoreError. */
  free(key: TurnKey): Promise<void>;
}
