import type { TurnKey } from '../core/accounts/chats.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { StoreError } from '../core/errors/store-error.ts';
import { retryUntilDefinite } from '../core/retry.ts';
import { type Exchange, json, type RouteHandler } from '../http/exchange.ts';
import { createBot } from './bot.ts';
import type { BotDependencies } from './bot-context.ts';
import { BotContext, botOf, type PrivateMessage, readMessage, readUpdateId } from './bot-context.ts';
import { ChatBusyError } from './commands/start.ts';
import { createMessenger, MessengerError, openApi } from './messenger-api.ts';

/** The messenger has its own schedule for retries; this value is for readers of the response. */
const RETRY_SECONDS = 5;
const RETRY_SECONDS_MAX = 300;

/**
 * POST /bot: processes one update of the messenger, which delivers it again until the response is 2xx. Each update is
 * processed once. After a failure that may be temporary, the next delivery processes the update again; a reply that is
 * rejected permanently ends the update.
 */
export const createTakeUpdate = (deps: BotDependencies): RouteHandler => {
  const answer = createAnswer(deps);
  return async (exchange) => {
    const body = exchange.body?.json ?? {};
    const updateId = readUpdateId(body);
    const key: TurnKey = `update#${updateId}`;
    const claim = await orLater(retryUntilDefinite(deps, () => deps.updates.claim(key, deps.clock.now())));
    // A claim with a lost reply looks like the claim of another delivery. It expires by itself.
    if (claim === 'busy') throw later(undefined);
    const message = readMessage(body);
    if (claim === 'claimed') {
      if (message) await attempt(deps, key, () => answer(exchange, updateId, message));
      await orLater(retryUntilDefinite(deps, () => deps.updates.finish(key, deps.clock.now())));
    }
    return json(200, { ok: true });
  };
};

type Answer = (exchange: Exchange, updateId: number, message: PrivateMessage) => Promise<void>;

const createAnswer = (deps: BotDependencies): Answer => {
  const { access } = deps;
  if (!access) return () => Promise.reject(new Error('an update for a bot that is not there'));
  const bot = createBot(deps);
  const api = openApi(access);
  const [messenger, me] = [createMessenger(api), botOf(access.botToken)];
  return async ({ summary }, updateId, message) => {
    const visit = new BotContext({ updateId, message, messenger, api, me });
    try {
      await bot(visit);
    } catch (error) {
      if (!(error instanceof MessengerError) || error.kind === 'later') throw error;
      await giveUp(deps, String(visit.userId), error);
    } finally {
      if (visit.accountId !== undefined) summary.accountId = visit.accountId;
    }
  };
};

/**
 * Records that the messenger will never accept the reply: closes the chat of a user who does not let the bot write, or
 * reports the refusal.
 */
const giveUp = async (deps: BotDependencies, chatId: string, { kind, message }: MessengerError): Promise<void> => {
  if (kind === 'closed') await retryUntilDefinite(deps, () => deps.accounts.setChatClosed(chatId, true));
  else deps.notice('bot_message_refused', { reason: message });
};

const attempt = async (deps: BotDependencies, key: TurnKey, answering: () => Promise<void>): Promise<void> => {
  try {
    await answering();
  } catch (error) {
    if (!isPassing(error)) throw error;
    if (error instanceof MessengerError) deps.notice('bot_message_failed', { reason: error.message });
    // If this fails as well, the next delivery waits until the claim expires.
    await orLater(retryUntilDefinite(deps, () => deps.updates.free(key)));
    throw later(error);
  }
};

const isPassing = (error: unknown): boolean =>
  error instanceof MessengerError || error instanceof StoreError || error instanceof ChatBusyError;

const orLater = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw error instanceof StoreError ? later(error) : error;
  }
};

const later = (cause: unknown): GatewayError => {
  const seconds = cause instanceof MessengerError ? cause.retryAfterSeconds : undefined;
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(seconds ?? RETRY_SECONDS), 1), RETRY_SECONDS_MAX);
  return new GatewayError('service_unavailable', 'This update cannot be answered at the moment. Deliver it again.', {
    retryAfterSeconds,
    cause,
  });
};
