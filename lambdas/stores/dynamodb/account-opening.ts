import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { NewAccount } from '../../core/accounts/account-store.ts';
import { START_REF } from '../../core/ledger/credit.ts';
import type { AccountTables } from './account-store.ts';
import { type Item, number, text } from './attributes.ts';
import { newChatItem, toCurrentKeyItem } from './chat-item.ts';
import { toKeyItem } from './key-store.ts';
import { newAccountItem } from './ledger-items.ts';
import { toCreditItem } from './ledger-store.ts';
import { putNew, transact } from './transaction.ts';

export const openAccount = async (
  client: DynamoDBClient,
  { accounts, keys }: AccountTables,
  account: NewAccount,
): Promise<'opened' | 'exists'> => {
  const { accountId, chatId, key, creditPicos, atMs } = account;
  const credit = { accountId, ref: START_REF, amountPicos: creditPicos, reason: 'first balance', at: atMs };
  const cancelled = await transact(client, [
    putNew(accounts, toAccountItem(account)),
    putNew(accounts, toCurrentKeyItem(accountId, key, atMs)),
    putNew(keys, toKeyItem(accountId, key)),
    ...(chatId === undefined ? [] : [putNew(accounts, newChatItem(chatId, accountId))]),
    ...(creditPicos === 0n ? [] : [putNew(accounts, toCreditItem(credit))]),
  ]);
  return cancelled ? 'exists' : 'opened';
};

const toAccountItem = ({ accountId, chatId, creditPicos }: NewAccount): Item => ({
  ...newAccountItem(accountId),
  available: number(creditPicos),
  credited: number(creditPicos),
  ...(chatId === undefined ? {} : { chat: text(chatId) }),
});
