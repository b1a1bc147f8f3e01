import type { NoticeSender } from '../../core/accounts/send-notices.ts';
import { createNoticeSender } from '../../messenger/low-balance-notice.ts';
import type { Settings } from '../../settings.ts';
import { createAccountStore } from '../../stores/dynamodb/account-store.ts';
import { type Environment, openLedger } from './ledger-parts.ts';
import type { NoticeParts } from './parts.ts';
import { readBotToken } from './secrets.ts';

export const noticePartsFromEnvironment = async (environment: Environment): Promise<NoticeParts> => {
  const { settings, clients, clock, random, reporting } = openLedger(environment);
  const tables = { accounts: settings.ACCOUNTS_TABLE, keys: settings.KEYS_TABLE };
  return {
    clock,
    random,
    accounts: createAccountStore(clients.repeating, tables),
    sendNotice: openSender(await readBotToken(settings), settings),
    reporting,
  };
};

const openSender = (botToken: string | undefined, settings: Settings): NoticeSender | undefined =>
  botToken === undefined
    ? undefined
    : createNoticeSender({ access: { botToken, apiUrl: settings.BOT_API_URL }, publicUrl: settings.PUBLIC_URL });
