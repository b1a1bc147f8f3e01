import { updateSecretOf } from '../../lambdas/core/signature.ts';

export const BOT_TOKEN = '123456:token-of-the-tests';
export const USER = 700_100;

export type SentText = {
  readonly updateId: number;
  readonly text?: string;
  readonly userId?: number;
  readonly language?: string;
};

/** Returns an update as the messenger sends it for a private chat. https://core.telegram.org/bots/api#update */
export function toUpdate({ updateId, text, userId = USER, language = 'en' }: SentText): object {
  return {
    update_id: updateId,
    message: {
      message_id: updateId,
      date: 1_794_000_000,
      chat: { id: userId, type: 'private', first_name: 'Ada' },
      from: { id: userId, is_bot: false, first_name: 'Ada', language_code: language },
      ...(text === undefined ? {} : { text }),
    },
  };
}

export const botHeaders: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'x-telegram-bot-api-secret-token': updateSecretOf(BOT_TOKEN),
};

/** Returns all complete API keys in the text, each once. */
export const keysIn = (text: string): readonly string[] => [
  ...new Set(text.match(/sk-service-[0-9A-Za-z]{49}(?![0-9A-Za-z])/g)),
];
