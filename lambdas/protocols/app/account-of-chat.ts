import type { AccountStore } from '../../core/accounts/account-store.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Exchange, initDataOf } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';

/** The id of the account of whoever has opened the mini app. Throws `not_found` before it has one, and 503. */
export type AccountIdOf = (exchange: Exchange) => Promise<string>;

export const createAccountIdOf =
  (accounts: Pick<AccountStore, 'chat'>): AccountIdOf =>
  async (exchange) => {
    const chat = await orUnavailable(accounts.chat(initDataOf(exchange).chatId));
    if (!chat) throw new GatewayError('not_found', 'Send /start to the bot first. It opens your account.');
    exchange.summary.accountId = chat.accountId;
    return chat.accountId;
  };
