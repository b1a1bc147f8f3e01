import type { Account } from '../lambdas/core/ledger/ledger.ts';
import { formatUsd } from '../lambdas/core/money/usd.ts';
import { toAccountObject } from '../lambdas/protocols/account-reads.ts';
import { failed } from './exit.ts';
import type { Facts } from './output.ts';
import type { Place } from './place.ts';

export const toAccountFacts = (account: Account) =>
  ({
    ...toAccountObject(account),
    credited_usd: formatUsd(account.creditedPicos),
    spent_usd: formatUsd(account.spentPicos),
  }) satisfies Facts;

export const toTime = (ms: number): string => new Date(ms).toISOString();

export const readAccount = async ({ stores }: Place, accountId: string): Promise<Account> => {
  const account = await stores.ledger.readAccount(accountId);
  if (account) return account;
  throw failed(`${accountId}: no such account. List them with \`accounts list\`.`);
};
