import * as z from 'zod';
import type { ChatButton } from './chat-message.ts';
import { BotApiError } from './failures.ts';
import { type Rendered, renderHtml } from './rendered-html.ts';
import type { Webhook } from './webhook.ts';

export type Outgoing = Rendered & {
  readonly chatId: number;
  readonly buttons: readonly (readonly ChatButton[])[];
};

export type MethodDependencies = {
  readonly botId: number;
  readonly webhook: Webhook;
  /** Returns the message id. */
  send(message: Outgoing): number;
  now(): number;
};

/** One method of the Bot API: its parameters and its result. Throws BotApiError. */
export type Method = (body: unknown) => unknown;

const CHARACTERS_MAX = 4_096;

const address = z.url({ protocol: /^https?$/ });

const button = z.union([
  z.strictObject({ text: z.string().min(1), url: address }),
  z.strictObject({ text: z.string().min(1), web_app: z.strictObject({ url: address }) }),
]);

const messageSchema = z.looseObject({
  chat_id: z.coerce.number().int(),
  text: z.string(),
  parse_mode: z.literal('HTML').optional(),
  reply_markup: z.strictObject({ inline_keyboard: z.array(z.array(button)) }).optional(),
});

const webhookSchema = z.looseObject({
  url: z.union([z.literal(''), address]),
  secret_token: z
    .string()
    .regex(/^[\w-]{1,256}$/)
    .optional(),
  drop_pending_updates: z.boolean().optional(),
});

const command = z.strictObject({
  command: z.string().regex(/^[a-z0-9_]{1,32}$/),
  description: z.string().min(1).max(256),
});

const commandsSchema = z.looseObject({ commands: z.array(command).max(100), language_code: z.string().optional() });

const menuSchema = z.looseObject({
  menu_button: z.looseObject({ type: z.string() }).optional(),
});

/**
 * Creates the methods that the gateway calls, https://core.telegram.org/bots/api. Works without TLS for local webhooks.
 */
export function createMethods({ botId, webhook, send, now }: MethodDependencies): Readonly<Record<string, Method>> {
  const commands = new Map<string, readonly z.output<typeof command>[]>();
  let menuButton: object = { type: 'commands' };
  const bot = { id: botId, is_bot: true, first_name: 'Gateway', username: 'local_gateway_bot' };
  return {
    getMe: () => ({
      ...bot,
      can_join_groups: false,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
    }),
    sendMessage: (body) => {
      const { chat_id: chatId, text, parse_mode, reply_markup } = read(messageSchema, body);
      const rendered = parse_mode === 'HTML' ? render(text) : { text, spans: [] };
      if (rendered.text.trim() === '') throw new BotApiError(400, 'Bad Request: message text is empty');
      if (rendered.text.length > CHARACTERS_MAX) throw new BotApiError(400, 'Bad Request: message is too long');
      const buttons = (reply_markup?.inline_keyboard ?? []).map((row) => row.map(toButton));
      const message_id = send({ ...rendered, chatId, buttons });
      const chat = { id: chatId, type: 'private', first_name: '' };
      return { message_id, date: Math.floor(now() / 1_000), from: bot, chat, text: rendered.text };
    },
    setWebhook: (body) => {
      const { url, secret_token: secret } = read(webhookSchema, body);
      webhook.set(url === '' ? undefined : { url, secret });
      return true;
    },
    deleteWebhook: () => {
      webhook.set(undefined);
      return true;
    },
    getWebhookInfo: () => ({
      url: webhook.target?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: webhook.pending,
      ...(webhook.lastError === undefined ? {} : { last_error_message: webhook.lastError }),
    }),
    setMyCommands: (body) => {
      const given = read(commandsSchema, body);
      commands.set(given.language_code ?? '', given.commands);
      return true;
    },
    getMyCommands: (body) =>
      commands.get(read(commandsSchema.pick({ language_code: true }), body).language_code ?? '') ?? [],
    setChatMenuButton: (body) => {
      menuButton = read(menuSchema, body).menu_button ?? { type: 'commands' };
      return true;
    },
    getChatMenuButton: () => menuButton,
  };
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new BotApiError(400, `Bad Request: ${parsed.error.issues[0]?.path.join('.')} is not valid`);
}

function render(html: string): Rendered {
  try {
    return renderHtml(html);
  } catch (error) {
    throw new BotApiError(400, `Bad Request: can't parse entities: ${error instanceof Error ? error.message : error}`);
  }
}

function toButton(given: z.output<typeof button>): ChatButton {
  return 'web_app' in given
    ? { kind: 'app', text: given.text, url: given.web_app.url }
    : { kind: 'link', text: given.text, url: given.url };
}
