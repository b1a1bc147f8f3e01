import { Api, GrammyError } from 'grammy/web';
import type { Html } from './html.ts';

export interface BotAccess {
  readonly botToken: string;
  /** Base URL of the Bot API. */
  readonly apiUrl: string;
}

/** `app` opens the mini app at that URL inside the messenger; `url` opens any other page. */
export type Button =
  | { readonly label: string; readonly app: string }
  | { readonly label: string; readonly url: string };

export interface Message {
  readonly text: Html;
  /** Shown one below the other. */
  readonly buttons?: readonly Button[];
}

export interface Messenger {
  /**
   * Resolves after the messenger accepted the message. After a MessengerError the message may still have been accepted.
   */
  send(chatId: string, message: Message): Promise<void>;
}

/**
 * A message that was not accepted. `closed`: the user does not let the bot write. `later`: retry after a while.
 * `refused`: never retry. Contains neither the text nor the bot token.
 */
export class MessengerError extends Error {
  override readonly name = 'MessengerError';
  readonly kind: 'closed' | 'later' | 'refused';
  /** Undefined without a response. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: MessengerError['kind'], reason: string, status?: number, retryAfterSeconds?: number) {
    super(reason);
    this.kind = kind;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Time limit of one call to the Bot API. The function that handles updates has 30 s in total. */
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

/** Drops the library's errors, even as a cause, because they contain the sent message. */
const toMessengerError = (error: unknown): MessengerError => {
  if (!(error instanceof GrammyError)) return new MessengerError('later', 'the Bot API did not answer');
  const { error_code: status, parameters } = error;
  return new MessengerError(kindOf(status), reasonOf(error), status, parameters.retry_after);
};

/**
 * Returns the kind of an error. 401 and 404 mean a wrong bot token, which the operator can fix, so the message can be
 * sent later.
 */
const kindOf = (status: number): MessengerError['kind'] => {
  if (status === 403) return 'closed';
  return status >= 500 || status === 429 || status === 401 || status === 404 ? 'later' : 'refused';
};

/** Text after the colon may quote the message. */
const reasonOf = ({ error_code, description }: GrammyError): string =>
  `the Bot API answered ${error_code}: ${description.split(':').slice(0, 2).join(':').slice(0, 80)}`;
