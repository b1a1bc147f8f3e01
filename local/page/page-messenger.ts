import type { LocalMessenger, MessengerUser } from '../simulators/messenger/messenger.ts';
import type { ChatMessage } from './ui/wire.ts';

export type ChatLanguage = MessengerUser['language'];

/** The chat of the page's user with the bot. */
export type PageMessenger = {
  say(text: string, language: ChatLanguage): void;
  /** Oldest first. */
  messages(): readonly ChatMessage[];
  onMessage(listener: (message: ChatMessage) => void): void;
  /** What the messenger opens the mini app with, now. */
  initData(language: ChatLanguage): string;
};

const user = (language: ChatLanguage): MessengerUser => ({ id: 1001, firstName: 'You', language });

/** The messenger as its one user here has it. What others write elsewhere is theirs. */
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
