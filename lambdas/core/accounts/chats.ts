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
  /** To be told now; then `markShown` keeps it from being replaced when the user starts again. */
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
  // Somebody may have been first, or have replaced this key already; and a repeated write finds what it wrote itself.
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
  // Another start has replaced it meanwhile, and tells its own.
  return { kind: 'had-key', accountId, label: after.label };
};

/** How long nobody else takes up an update that somebody works on, unless it is given back. */
export const UPDATE_LEASE_MS = 60_000;

/** An update by its number, or the chat that is being started: of its messages one at a time may tell a key. */
export type TurnKey = `update#${number}` | `start#${number}`;

/** Which updates of the messenger have been dealt with: it delivers one again until it is told so (KEY-1). */
export interface UpdateLog {
  /** `busy`: somebody works on it, or died over it less than a lease ago. Throws StoreError. */
  claim(key: TurnKey, nowMs: number): Promise<'claimed' | 'busy' | 'done'>;
  /** For good. Throws StoreError. */
  finish(key: TurnKey, nowMs: number): Promise<void>;
  /** The next delivery may claim it at once, unless it is finished. Throws StoreError. */
  free(key: TurnKey): Promise<void>;
}
