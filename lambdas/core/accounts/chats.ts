import { retryUntilDefinite } from '../retry.ts';
import type { Chat } from './account-store.ts';
import type { IssueDependencies } from './issue-key.ts';
import type { CurrentKey } from './key-ring.ts';
import { type KeyLabel, makeKey } from './keys.ts';

export interface StartDependencies extends IssueDependencies {
  readonly newAccountId: () => string;
  /** Credit of a new account in pico-USD. */
  readonly startCreditPicos: bigint;
}

export type Started =
  /** API key to show now. After that, call `markShown` so that the next start does not replace it. */
  | {
      readonly kind: 'key';
      readonly accountId: string;
      readonly apiKey: string;
      readonly hash: string;
      /** API key that no longer works. Its message may have arrived. Undefined for the first API key. */
      readonly replaced?: KeyLabel;
    }
  | { readonly kind: 'had-key'; readonly accountId: string; readonly label: KeyLabel }
  | { readonly kind: 'revoked' | 'blocked'; readonly accountId: string };

/**
 * KEY-1: opens the account of a bot chat with its first API key. If the account exists, replaces an API key that is not
 * marked as shown and was never used, because its owner may never have received it. Throws StoreError.
 */
export const startChat = async (deps: StartDependencies, chatId: string): Promise<Started> => {
  const { accounts, keys, clock, newAccountId, startCreditPicos } = deps;
  const known = await retryUntilDefinite(deps, () => accounts.chat(chatId));
  if (known) return ofKnown(deps, known);
  const { apiKey, key } = makeKey(deps, false);
  const account = { accountId: newAccountId(), chatId, key, creditPicos: startCreditPicos, atMs: clock.now() };
  await retryUntilDefinite(deps, () => accounts.open(account));
  // Another start may have created or replaced the API key, and a repeated `open` returns `exists` for its own write.
  // The current key shows which write succeeded.
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
  // The message arrived, but the write that marks the API key failed or came late.
  if (await isUsed(deps, current)) {
    await retryUntilDefinite(deps, () => keys.markShown(accountId, current.hash));
    return { kind: 'had-key', accountId, label: current.label };
  }
  const { apiKey, key } = makeKey(deps, false);
  const replacement = { accountId, oldHash: current.hash, key, atMs: clock.now() };
  const reply = await retryUntilDefinite(deps, () => keys.replaceKey(replacement));
  if (reply === 'blocked') return { kind: 'blocked', accountId };
  const after = await retryUntilDefinite(deps, () => keys.currentKey(accountId));
  if (after?.hash === key.hash) {
    return { kind: 'key', accountId, apiKey, hash: key.hash, replaced: current.label };
  }
  if (!after || after.isRevoked) return { kind: 'revoked', accountId };
  // Another start replaced the API key in the meantime, and shows its own.
  return { kind: 'had-key', accountId, label: after.label };
};

/** Every request with an API key moves the arrival time of its rate limit. */
const isUsed = async (deps: StartDependencies, { hash }: CurrentKey): Promise<boolean> => {
  const record = await retryUntilDefinite(deps, () => deps.keys.read(hash));
  return record !== undefined && record.tatMicros > 0;
};

/** Lease of an update, in ms. Other deliveries cannot claim the update until the lease expires or is released. */
export const UPDATE_LEASE_MS = 60_000;

/**
 * Key of a lease: an update by its number, or the start of a bot chat, so that only one message at a time shows an API
 * key.
 */
export type TurnKey = `update#${number}` | `start#${number}`;

/** Processed updates of the messenger. The messenger delivers an update again until it is confirmed (KEY-1). */
export interface UpdateLog {
  /** `busy`: another delivery is processing the update, or failed within the lease. Throws StoreError. */
  claim(key: TurnKey, nowMs: number): Promise<'claimed' | 'busy' | 'done'>;
  /** Marks the update as done permanently. Throws StoreError. */
  finish(key: TurnKey, nowMs: number): Promise<void>;
  /** Lets the next delivery claim the update immediately, unless it is finished. Throws StoreError. */
  free(key: TurnKey): Promise<void>;
}
