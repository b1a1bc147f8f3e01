import { type Clock, sleep } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { AccountStore, Chat, Language } from './account-store.ts';
import type { BalanceChange } from './low-balance.ts';

/** Amounts are pico-USD. */
export interface Notification {
  readonly chatId: string;
  /** Undefined if no language of the user is stored yet. */
  readonly language: Language | undefined;
  readonly balancePicos: bigint;
  readonly thresholdPicos: bigint;
}

/** Result of one attempt to send. */
export type Delivery =
  | { readonly kind: 'sent' }
  /** The user has blocked the bot. */
  | { readonly kind: 'closed' }
  /** The messenger would reject the same message again. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  /** The message may not have been sent. Another attempt is allowed. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Makes one attempt to send. The reason of a failure contains neither the bot token nor the text. */
export type NotificationSender = (notice: Notification) => Promise<Delivery>;

export interface NotificationDependencies {
  readonly accounts: Pick<AccountStore, 'chat' | 'setChatClosed' | 'markNoticed'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly sendNotification: NotificationSender;
}

/** `failed` is retried. `refused` is reported to the operator. */
export type NotificationOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'failed'; readonly reason: string };

const done: NotificationOutcome = { kind: 'done' };

/**
 * Longest wait for the messenger's rate limit in this attempt, in seconds. A longer wait is left to the next attempt.
 */
const WAIT_SECONDS_MAX = 5;
/** Number of bot chats whose latest notification this process remembers. */
const REMEMBERED_MAX = 1_000;

/**
 * KEY-3: returns a function that notifies the owner of a crossing. A failed notification is repeated. The version on
 * the bot chat prevents a second notification, and so does the memory of this process if that version could not be
 * written. Drops a crossing that is older than the last notified one. Throws StoreError.
 */
export const createNotifications = (deps: NotificationDependencies) => {
  const told = new RecentMap<number>(REMEMBERED_MAX);
  return async (change: BalanceChange): Promise<NotificationOutcome> => {
    const { chatId, version } = change;
    if (chatId === undefined) return done;
    const isTold = version <= (told.get(chatId) ?? 0);
    const outcome = isTold ? done : await deliver(deps, chatId, change);
    if (outcome.kind === 'skipped') return done;
    if (outcome.kind === 'failed') return outcome;
    told.set(chatId, Math.max(version, told.get(chatId) ?? 0));
    await retryUntilDefinite(deps, () => deps.accounts.markNoticed(chatId, version));
    return outcome;
  };
};

type DeliveryOutcome = NotificationOutcome | { readonly kind: 'skipped' };

const deliver = async (
  deps: NotificationDependencies,
  chatId: string,
  change: BalanceChange,
): Promise<DeliveryOutcome> => {
  const chat = await retryUntilDefinite(deps, () => deps.accounts.chat(chatId));
  if (!chat || !isOwed(chat, change)) return { kind: 'skipped' };
  const delivery = await send(deps, {
    chatId,
    language: chat.language,
    balancePicos: change.afterPicos,
    thresholdPicos: change.thresholdPicos,
  });
  if (delivery.kind === 'sent') return done;
  if (delivery.kind === 'limited') return { kind: 'failed', reason: `limited for ${delivery.retryAfterSeconds} s` };
  if (delivery.kind !== 'closed') return delivery;
  await retryUntilDefinite(deps, () => deps.accounts.setChatClosed(chatId, true));
  return { kind: 'skipped' };
};

const isOwed = ({ accountId, isClosed, noticedVersion }: Chat, change: BalanceChange): boolean =>
  accountId === change.accountId && !isClosed && change.version > noticedVersion;

const send = async ({ sendNotification, clock }: NotificationDependencies, notice: Notification): Promise<Delivery> => {
  const first = await sendNotification(notice);
  if (first.kind !== 'limited' || first.retryAfterSeconds > WAIT_SECONDS_MAX) return first;
  await sleep(clock, first.retryAfterSeconds * 1_000);
  return sendNotification(notice);
};
