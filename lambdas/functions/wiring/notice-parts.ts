import { createNoticeSender } from '../../messenger/low-balance-notice.ts';
import { createAccountStore } from '../../stores/dynamodb/account-store.ts';
import { type Environment, openLedger } from './ledger-parts.ts';
import type { NoticeParts } from './parts.ts';
import { readPublicUrl } from './public-url.ts';
import { readBotToken } from './secrets.ts';

export const noticePartsFromEnvironment = async (environment: Environment): Promise<NoticeParts> => {
  const { settings, clients, clock, random, reporting } = openLedger(environment);
  const tables = { accounts: settings.ACCOUNTS_TABLE, keys: settings.KEYS_TABLE };
  const [botToken, publicUrl] = await Promise.all([readBotToken(settings), readPublicUrl(settings)]);
  return {
    clock,
    random,
    accounts: createAccountStore(clients.repeating, tables),
    sendNotice:
      botToken === undefined
        ? undefined
        : createNoticeSender({ access: { botToken, apiUrl: settings.BOT_API_URL }, publicUrl }),
    reporting,
  };
};
