import { type Api, Context } from 'grammy/web';
import type { Html } from './html.ts';
import type { Button, Messenger } from './messenger-api.ts';
import { languageOf, type Texts, textsFor } from './texts/texts.ts';
import { type PrivateMessage, toUpdate } from './update.ts';

type Me = ConstructorParameters<typeof Context>[2];

export interface Visited {
  readonly updateId: number;
  readonly message: PrivateMessage;
  readonly messenger: Messenger;
  readonly api: Api;
  readonly me: Me;
}

/** One message of a user in a chat of their own, on its way through the commands. */
export class Visit extends Context {
  /** Of the user, and of the chat. */
  readonly userId: number;
  readonly texts: Texts;
  /** Known once the chat has been looked up, if it has an account. */
  accountId: string | undefined;
  readonly messenger: Messenger;

  constructor({ updateId, message, messenger, api, me }: Visited) {
    super(toUpdate(updateId, message), api, me);
    this.userId = message.chat.id;
    this.texts = textsFor(languageOf(message.from.language_code));
    this.messenger = messenger;
  }

  /** Throws MessengerError. */
  async tell(text: Html, ...buttons: readonly (Button | undefined)[]): Promise<void> {
    const present = buttons.filter((button) => button !== undefined);
    await this.messenger.send(String(this.userId), { text, buttons: present });
  }
}

/** What the library would ask the messenger for at every start: none of it is needed but the id, with which a token begins. */
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
