import type { Update } from 'grammy/types';
import { type Api, Context } from 'grammy/web';
import * as z from 'zod';
import type { StartDependencies, UpdateLog } from '../core/accounts/chats.ts';
import type { Catalog } from '../core/catalog/catalog.ts';
import { invalidRequest } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';
import type { LedgerStore } from '../core/ledger/ledger.ts';
import type { LedgerRecords } from '../core/ledger/records.ts';
import type { OperationalEventName } from '../core/metrics.ts';
import type { Html } from './html.ts';
import type { BotAccess, Button, Messenger } from './messenger-api.ts';
import { languageOf, textsFor } from './texts/texts.ts';
import type { Texts } from './texts/words.ts';

export interface BotDependencies extends StartDependencies {
  /** Undefined if there is no bot. */
  readonly access: BotAccess | undefined;
  readonly updates: UpdateLog;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
  readonly catalog: Catalog;
  /** Public base URL of the gateway; without it the bot shows no URL and no app. */
  readonly publicUrl: string | undefined;
  /** Text or link for topping up. */
  readonly topUpText: string | undefined;
  readonly notice: (name: OperationalEventName, details: Readonly<Record<string, string>>) => void;
}

/**
 * Returns the URL of the mini app; undefined if there is none or the messenger would not open it. The messenger
 * requires TLS, except a local one, whose API URL is plain HTTP.
 */
export const appUrlOf = ({ publicUrl, access }: Pick<BotDependencies, 'publicUrl' | 'access'>): string | undefined => {
  if (publicUrl === undefined) return undefined;
  const { origin, protocol } = new URL(publicUrl);
  const isLocal = access !== undefined && new URL(access.apiUrl).protocol === 'http:';
  return protocol === 'https:' || isLocal ? `${origin}/app` : undefined;
};

type Me = ConstructorParameters<typeof Context>[2];

interface Visited {
  readonly updateId: number;
  readonly message: PrivateMessage;
  readonly messenger: Messenger;
  readonly api: Api;
  readonly me: Me;
}

/** One message of a user in a private chat, with its context for the commands. */
export class BotContext extends Context {
  /** Id of the user and of the private chat. */
  readonly userId: number;
  readonly texts: Texts;
  /** Set after the bot chat was read, if it has an account. */
  accountId: string | undefined;
  readonly messenger: Messenger;

  constructor({ updateId, message, messenger, api, me }: Visited) {
    super(toUpdate(updateId, message), api, me);
    this.userId = message.chat.id;
    this.texts = textsFor(languageOf(message.from.language_code));
    this.messenger = messenger;
  }

  /** Sends a message. Throws MessengerError. */
  async tell(text: Html, ...buttons: readonly (Button | undefined)[]): Promise<void> {
    const present = buttons.filter((button) => button !== undefined);
    await this.messenger.send(String(this.userId), { text, buttons: present });
  }
}

/**
 * Returns the bot's own data, so that the library does not request it from the messenger at every start. Only the id is
 * used, which is the first part of the token.
 */
export const botOf = (botToken: string): Me => ({
  id: Number(botToken.split(':')[0]),
  is_bot: true,
  first_name: '',
  username: '',
  can_join_groups: false,
  can_read_all_group_messages: false,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
  can_manage_bots: false,
  supports_join_request_queries: false,
});

const updateId = z.int().nonnegative();

/** Returns the update id. Throws 400 without one, because the update could not be identified. */
export const readUpdateId = (json: JsonObject): number => {
  const parsed = updateId.safeParse(json.update_id);
  if (parsed.success) return parsed.data;
  throw invalidRequest('update_id', 'update_id: must be the whole number of the update.');
};

const id = z.int().positive();

/** Message of a user in a private chat. Groups, channels and other bots get no reply. */
const messageSchema = z.object({
  message_id: z.int(),
  date: z.int(),
  chat: z.object({ id, type: z.literal('private') }),
  from: z.object({ id, is_bot: z.literal(false), language_code: z.string().optional() }),
  text: z.string().optional(),
});

export type PrivateMessage = z.output<typeof messageSchema>;

/** Returns the message, or undefined if the bot does not reply to it. */
export const readMessage = (json: JsonObject): PrivateMessage | undefined => messageSchema.safeParse(json.message).data;

/**
 * Converts a message to an update with the fields that the library reads. Its only entity is a command at the start of
 * the text.
 */
const toUpdate = (update_id: number, { message_id, date, chat, from, text }: PrivateMessage): Update => {
  const [command] = /^\/\w+(@\w+)?/.exec(text ?? '') ?? [];
  return {
    update_id,
    message: {
      message_id,
      date,
      chat: { ...chat, first_name: '' },
      from: { ...from, first_name: '' },
      ...(text === undefined ? {} : { text }),
      ...(command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }),
    },
  };
};

export const appButton = (deps: Pick<BotDependencies, 'publicUrl' | 'access'>, texts: Texts): Button | undefined => {
  const app = appUrlOf(deps);
  return app === undefined ? undefined : { label: texts.openApp, app };
};
