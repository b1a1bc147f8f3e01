import { Composer } from 'grammy/web';
import { retryUntilDefinite } from '../core/retry.ts';
import type { BotContext, BotDependencies } from './bot-context.ts';
import { appButton } from './bot-context.ts';
import { createBalance, createShowKey, createTopUp, withAccount } from './commands/account.ts';
import { createModels } from './commands/models.ts';
import { createStart } from './commands/start.ts';
import { createUsage } from './commands/usage.ts';
import type { CommandName } from './texts/words.ts';

type Answering = (visit: BotContext) => Promise<void>;

/**
 * Returns the bot, which replies to one message. It throws MessengerError, StoreError and ChatBusyError. A later
 * delivery of the same message can succeed.
 */
export const createBot = (deps: BotDependencies): Answering => {
  const help: Answering = (visit) => visit.tell(visit.texts.help(), appButton(deps, visit.texts));
  const commands: Readonly<Record<CommandName, Answering>> = {
    start: createStart(deps),
    balance: withAccount(createBalance(deps)),
    usage: withAccount(createUsage(deps)),
    key: withAccount(createShowKey(deps)),
    models: createModels(deps),
    topup: withAccount(createTopUp(deps)),
    help,
  };
  const bot = new Composer<BotContext>();
  bot.use(async (visit, next) => {
    await recognize(deps, visit);
    await next();
  });
  let name: CommandName;
  for (name in commands) bot.command(name, commands[name]);
  bot.use(help);
  const answer = bot.middleware();
  return async (visit) => void (await answer(visit, async () => undefined));
};

/** Reopens a closed bot chat and updates its language when the user writes. */
const recognize = async (deps: BotDependencies, visit: BotContext): Promise<void> => {
  const { accounts } = deps;
  const { language } = visit.texts;
  const chat = await retryUntilDefinite(deps, () => accounts.chat(String(visit.userId)));
  if (!chat) return;
  visit.accountId = chat.accountId;
  if (chat.isClosed) await retryUntilDefinite(deps, () => accounts.setChatClosed(chat.id, false));
  if (chat.language !== language) await retryUntilDefinite(deps, () => accounts.setLanguage(chat.id, language));
};
