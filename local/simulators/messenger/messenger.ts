import { createHmac, randomBytes } from 'node:crypto';
import { updateSecretOf } from '../../../lambdas/core/signature.ts';
import { startBotApi } from './bot-api.ts';
import type { ChatMessage, MessengerUser } from './chat-message.ts';
import type { Failure } from './failures.ts';
import { createMethods } from './methods.ts';
import { createWebhook } from './webhook.ts';

/**
 * Returns the init data of the mini app. Its Ed25519 signature, for readers without the bot token, is fake.
 * https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
 */
export function signInitData(botToken: string, { id, firstName, language }: MessengerUser, nowMs: number): string {
  const fields = {
    query_id: randomBytes(12).toString('base64url'),
    user: JSON.stringify({ id, first_name: firstName, language_code: language, allows_write_to_pm: true }),
    auth_date: String(Math.floor(nowMs / 1_000)),
    signature: randomBytes(64).toString('base64url'),
  };
  const signed = Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', key).update(signed).digest('hex');
  return new URLSearchParams({ ...fields, hash }).toString();
}

export type { ChatButton, ChatMessage, MessengerUser, TextSpan } from './chat-message.ts';

export type MessengerListener = (chatId: number, message: ChatMessage) => void;

export type LocalMessenger = {
  /** Value for BOT_API_URL. */
  readonly url: string;
  /** Sets the webhook as the operator of the gateway would. Updates wait until then. */
  connect(webhookUrl: string): void;
  /** Resolves when the bot has accepted it, or the messenger has stopped. */
  say(user: MessengerUser, text: string): Promise<void>;
  /** URL of a button in the latest bot message that has one; the URL of the mini app includes its init data. */
  press(user: MessengerUser, label: string): string;
  /** Messages, oldest first. */
  messages(chatId: number): readonly ChatMessage[];
  /** Reports every message from now on. The returned function stops that. */
  onMessage(listener: MessengerListener): () => void;
  /** Makes the next messages of the bot fail in this way. */
  answer(failure: Failure, times?: number): void;
  /** Returns the init data of the mini app, as of now or another time. */
  initData(user: MessengerUser, nowMs?: number): string;
  stop(): Promise<void>;
};

export type MessengerOptions = {
  readonly botToken: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** Wait before the first redelivery, in ms. Every wait is twice the previous one. */
  readonly firstDelayMs?: number;
};

/** Maximum number of messages per chat. Older ones are dropped. */
const MESSAGES_MAX = 500;

/** Local messenger for one bot, in memory: the Bot API, chats, and the launcher of the mini app. */
export async function startMessenger({ botToken, port = 0, firstDelayMs }: MessengerOptions): Promise<LocalMessenger> {
  const chats = new Map<number, ChatMessage[]>();
  const listeners = new Set<MessengerListener>();
  const failures: Failure[] = [];
  const webhook = createWebhook({ firstDelayMs });
  let messages = 0;
  // Numbers continue after a restart, because the gateway remembers the earlier updates.
  let updates = Math.floor(Date.now() / 100);

  function keep(chatId: number, message: Omit<ChatMessage, 'id'>): number {
    messages += 1;
    const kept = { id: messages, ...message };
    const chat = [...(chats.get(chatId) ?? []), kept];
    chats.set(chatId, chat.slice(-MESSAGES_MAX));
    for (const listener of listeners) listener(chatId, kept);
    return kept.id;
  }

  const methods = createMethods({
    botId: Number(botToken.split(':')[0]),
    webhook,
    send: ({ chatId, ...message }) => keep(chatId, { from: 'bot', ...message }),
    now: Date.now,
  });

  const api = await startBotApi({ botToken, port, methods, nextFailure: () => failures.shift() });

  return {
    url: api.url,
    connect: (url) => webhook.set({ url, secret: updateSecretOf(botToken) }),
    say(user, text) {
      const message_id = keep(user.id, { from: 'user', text, spans: [], buttons: [] });
      updates += 1;
      return webhook.deliver(user.id, { update_id: updates, message: toMessage(user, message_id, text) });
    },
    press(user, label) {
      const buttons = (chats.get(user.id) ?? []).flatMap((message) => message.buttons.flat());
      const pressed = buttons.findLast(({ text }) => text === label);
      if (!pressed) throw new Error(`No message has a button "${label}".`);
      if (pressed.kind === 'link') return pressed.url;
      const data = new URLSearchParams({
        tgWebAppData: signInitData(botToken, user, Date.now()),
        tgWebAppVersion: '9.1',
      });
      return `${pressed.url}#${data}`;
    },
    messages: (chatId) => chats.get(chatId) ?? [],
    onMessage(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer: (failure, times = 1) => void failures.push(...Array.from({ length: times }, () => failure)),
    initData: (user, nowMs = Date.now()) => signInitData(botToken, user, nowMs),
    async stop() {
      await webhook.stop();
      await api.stop();
    },
  };
}

function toMessage({ id, firstName, language }: MessengerUser, message_id: number, text: string): object {
  const [command] = /^\/\w+/.exec(text) ?? [];
  return {
    message_id,
    date: Math.floor(Date.now() / 1_000),
    chat: { id, type: 'private', first_name: firstName },
    from: { id, is_bot: false, first_name: firstName, language_code: language },
    text,
    ...(command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }),
  };
}
