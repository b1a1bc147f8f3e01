import { Api, GrammyError } from 'grammy/web';
import type { Html } from './html.ts';

export interface BotAccess {
  readonly botToken: string;
  /** Where the Bot API answers. */
  readonly apiUrl: string;
}

/** `app` opens the mini app at that address, inside the messenger; `url` any other place. */
export type Button =
  | { readonly label: string; readonly app: string }
  | { readonly label: string; readonly url: string };

export interface Message {
  readonly text: Html;
  /** One below the other. */
  readonly buttons?: readonly Button[];
}

export interface Messenger {
  /** Resolves once the messenger has taken it. Throws MessengerError, after which it may have been taken all the same. */
  send(chatId: string, message: Message): Promise<void>;
}

/**
 * A message that was not taken. `closed`: its user does not let the bot write; `later`: it may be sent again, after a while;
 * `refused`: it never will be. Neither text nor token are in it.
 */
export class MessengerError extends Error {
  override readonly name = 'MessengerError';
  readonly kind: 'closed' | 'later' | 'refused';
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: MessengerError['kind'], reason: string, status?: number, retryAfterSeconds?: number) {
    super(reason);
    this.kind = kind;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The function has half a minute for everything. */
const TIMEOUT_SECONDS = 8;

export const openApi = ({ botToken, apiUrl }: BotAccess): Api =>
  new Api(botToken, { apiRoot: apiUrl.replace(/\/+$/, ''), timeoutSeconds: TIMEOUT_SECONDS });

export const createMessenger = (api: Api): Messenger => ({
  send: async (chatId, { text, buttons = [] }) => {
    try {
      await api.sendMessage(chatId, text.html, {
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...(buttons.length > 0 && { reply_markup: { inline_keyboard: buttons.map((button) => [toKeyboard(button)]) } }),
      });
    } catch (error) {
      throw toMessengerError(error);
    }
  },
});

const toKeyboard = (button: Button) =>
  'app' in button ? { text: button.label, web_app: { url: button.app } } : { text: button.label, url: button.url };

/** The library's own errors carry what was sent, so that none of them is kept, not even as a cause. */
const toMessengerError = (error: unknown): MessengerError => {
  if (!(error instanceof GrammyError)) return new MessengerError('later', 'the Bot API did not answer');
  const { error_code: status, parameters } = error;
  return new MessengerError(kindOf(status), reasonOf(error), status, parameters.retry_after);
};

/** 401 and 404 say that the token is wrong, which its owner can put right. */
const kindOf = (status: number): MessengerError['kind'] => {
  if (status === 403) return 'closed';
  return status >= 500 || status === 429 || status === 401 || status === 404 ? 'later' : 'refused';
};

/** Text after the colon may quote the message. */
const reasonOf = ({ error_code, description }: GrammyError): string =>
  `the Bot API answered ${error_code}: ${description.split(':').slice(0, 2).join(':').slice(0, 80)}`;
