import { type Clock, sleep } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { AccountStore, Chat, Language } from './account-store.ts';
import type { BalanceChange } from './low-balance.ts';

/** Amounts are pico-USD. */
export interface Notification {
  readonly chatId: string;
  /** Undefined of a user who has not been heard from since languages are known. */
  readonly language: Language | undefined;
  readonly balancePicos: bigint;
  readonly thresholdPicos: bigint;
}

/** What became of one attempt to send. */
export type Delivery =
  | { readonly kind: 'sent' }
  /** The user does not let the bot write. */
  | { readonly kind: 'closed' }
  /** It would be refused again. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  /** Perhaps not even sent. Another attempt may be taken. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One attempt. The reason of one that failed holds neither the token nor the text. */
export type NotificationSender = (notice: Notification) => Promise<Delivery>;

export interface NotificationDependencies {
  readonly accounts: Pick<AccountStore, 'chat' | 'setChatClosed' | 'markNoticed'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly sendNotification: NotificationSender;
}

/** `failed` has to be tried again; `refused` is the operator's to know. */
export type NotificationOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'failed'; readonly reason: string };

const done: NotificationOutcome = { kind: 'done' };

/** Who is asked to wait longer leaves it to the next attempt. */
const WAIT_SECONDS_MAX = 5;
/** Chats whose last notice this process remembers. */
const REMEMBERED_MAX = 1_000;

/**
 * KEY-3: notifies of a crossing at least once, and exactly once if the mark on the chat can be written. A process that
 * could not write the mark remembers the crossing. A crossing older than the last notified one is dropped. Throws
 * StoreError.
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
