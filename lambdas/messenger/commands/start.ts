import { startChat, type TurnKey } from '../../core/accounts/chats.ts';
import { toMasked } from '../../core/accounts/keys.ts';
import { retryUntilDefinite } from '../../core/retry.ts';
import { appButton, type BotContext, type BotDependencies } from '../bot-context.ts';

/** Another message of the same user requested an API key and is still being processed. */
export class ChatBusyError extends Error {
  override readonly name = 'ChatBusyError';
}

/**
 * KEY-1. Handles one message of a chat at a time: two concurrent ones would each replace the key that the other shows.
 */
export const createStart =
  (deps: BotDependencies) =>
  async (visit: BotContext): Promise<void> => {
    const { updates, clock } = deps;
    const turn: TurnKey = `start#${visit.userId}`;
    if ((await updates.claim(turn, clock.now())) !== 'claimed') throw new ChatBusyError('this chat is being started');
    try {
      await tellKey(deps, visit);
    } finally {
      await retryUntilDefinite(deps, () => updates.free(turn));
    }
  };

const tellKey = async (deps: BotDependencies, visit: BotContext): Promise<void> => {
  const { texts } = visit;
  const chatId = String(visit.userId);
  const started = await startChat(deps, chatId);
  if (visit.accountId === undefined) {
    // The user's language could not be stored before the bot chat existed.
    await retryUntilDefinite(deps, () => deps.accounts.setLanguage(chatId, texts.language));
  }
  visit.accountId = started.accountId;
  switch (started.kind) {
    case 'key': {
      const { accountId, apiKey, hash, replaced } = started;
      const facts = { apiKey, replaced: replaced && toMasked(replaced), ...exampleFor(deps, apiKey) };
      await visit.tell(texts.firstKey(facts));
      await retryUntilDefinite(deps, () => deps.keys.markShown(accountId, hash));
      return visit.tell(texts.help(), appButton(deps, texts));
    }
    case 'had-key':
      return visit.tell(texts.hadKey(toMasked(started.label)), appButton(deps, texts));
    case 'revoked':
      return visit.tell(texts.keyRevoked(), appButton(deps, texts));
    case 'blocked':
      return visit.tell(texts.accountBlocked());
  }
};

interface Example {
  readonly baseUrl: string | undefined;
  readonly example: string | undefined;
  /** URL of the client guide (REF-2). */
  readonly guide: string | undefined;
}

/** Returns a first request to paste, which uses the cheapest model. */
const exampleFor = ({ publicUrl, catalog, clock }: BotDependencies, apiKey: string): Example => {
  if (publicUrl === undefined) return { baseUrl: undefined, example: undefined, guide: undefined };
  const { origin } = new URL(publicUrl);
  const baseUrl = `${origin}/v1`;
  const guide = `${origin}/api-reference/clients`;
  const nowMs = clock.now();
  const [cheapest] = catalog
    .list(nowMs)
    .filter((model) => model.kind === 'text')
    .filter(({ protocols }) => protocols.includes('chat_completions'))
    .map((model) => ({ id: model.id, output: catalog.priceRow(model, nowMs).rates.output }))
    .toSorted((one, other) => Number(one.output - other.output));
  if (!cheapest) return { baseUrl, example: undefined, guide };
  const body = JSON.stringify({ model: cheapest.id, messages: [{ role: 'user', content: 'Hello!' }] });
  const parts = [
    `curl ${baseUrl}/chat/completions`,
    `-H "Authorization: Bearer ${apiKey}"`,
    '-H "Content-Type: application/json"',
    `-d '${body}'`,
  ];
  return { baseUrl, example: parts.join(' \\\n  '), guide };
};
