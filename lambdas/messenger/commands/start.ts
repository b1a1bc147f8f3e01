import type { TurnKey } from '../../core/accounts/chats.ts';
import { startChat } from '../../core/accounts/chats.ts';
import { toMasked } from '../../core/accounts/keys.ts';
import { untilDefinite } from '../../core/retry.ts';
import { appButton } from '../app-button.ts';
import type { BotPorts } from '../bot-ports.ts';
import type { Visit } from '../visit.ts';
import { exampleFor } from './example.ts';

/** The same user has asked for a key with another message, which is not done with yet. */
export class ChatBusyError extends Error {
  override readonly name = 'ChatBusyError';
}

/**
 * KEY-1. One message of a chat at a time: of two at once each would replace the key that the other is telling.
 */
export const createStart =
  (ports: BotPorts) =>
  async (visit: Visit): Promise<void> => {
    const { updates, clock } = ports;
    const turn: TurnKey = `start#${visit.userId}`;
    if ((await updates.claim(turn, clock.now())) !== 'claimed') throw new ChatBusyError('this chat is being started');
    try {
      await tellKey(ports, visit);
    } finally {
      await untilDefinite(ports, () => updates.free(turn));
    }
  };

const tellKey = async (ports: BotPorts, visit: Visit): Promise<void> => {
  const { texts } = visit;
  const chatId = String(visit.userId);
  const started = await startChat(ports, chatId);
  if (visit.accountId === undefined) {
    // The chat was not there when its user was looked for.
    await untilDefinite(ports, () => ports.accounts.setLanguage(chatId, texts.language));
  }
  visit.accountId = started.accountId;
  switch (started.kind) {
    case 'key': {
      const { accountId, apiKey, hash } = started;
      await visit.tell(texts.firstKey({ apiKey, ...exampleFor(ports, apiKey) }));
      await untilDefinite(ports, () => ports.accounts.markShown(accountId, hash));
      return visit.tell(texts.help(), appButton(ports, texts));
    }
    case 'had-key':
      return visit.tell(texts.hadKey(toMasked(started.label)), appButton(ports, texts));
    case 'revoked':
      return visit.tell(texts.keyRevoked(), appButton(ports, texts));
    case 'blocked':
      return visit.tell(texts.accountBlocked());
  }
};
