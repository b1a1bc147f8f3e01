import type { LocalMessenger, MessengerUser } from '../simulators/messenger/messenger.ts';
import type { ChatMessage } from './ui/wire.ts';

export type ChatLanguage = MessengerUser['language'];

/** The chat of the page's user with the bot. */
export type PageMessenger = {
  say(text: string, language: ChatLanguage): void;
  /** Oldest first. */
  messages(): readonly ChatMessage[];
  onMessage(listener: (message: ChatMessage) => void): void;
  /** Returns the init data of the mini app, signed now. */
  initData(language: ChatLanguage): string;
};

const user = (language: ChatLanguage): MessengerUser => ({ id: 1001, firstName: 'You', language });

/** The messenger as its one user sees it. Chats of other users are not shown. */
export function createPageMessenger(messenger: Omit<LocalMessenger, 'connect' | 'stop'>): PageMessenger {
  const chatId = user('en').id;
  return {
    say: (text, language) => void messenger.say(user(language), text),
    messages: () => messenger.messages(chatId),
    onMessage: (listener) =>
      void messenger.onMessage((ofChat, message) => {
        if (ofChat === chatId) listener(message);
      }),
    initData: (language) => messenger.initData(user(language)),
  };
}
