import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { NewAccount } from '../../core/accounts/account-store.ts';
import { newAccountItem } from './account-item.ts';
import type { AccountTables } from './account-store.ts';
import { type Item, number, text } from './attributes.ts';
import { newChatItem, toCurrentKeyItem } from './chat-item.ts';
import { toCreditItem } from './credit.ts';
import { toKeyItem } from './key-store.ts';
import { transact } from './transaction.ts';

/** The reference of the credit that an account begins with. */
const START = 'start';

export const openAccount = async (
  client: DynamoDBClient,
  { accounts, keys }: AccountTables,
  account: NewAccount,
): Promise<'opened' | 'exists'> => {
  const { accountId, chatId, key, creditPicos, atMs } = account;
  const put = (TableName: string, Item: Item): TransactWriteItem => ({
    Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  });
  const credit = { accountId, ref: START, amountPicos: creditPicos, reason: 'first balance', at: atMs };
  const cancelled = await transact(client, [
    put(accounts, toAccountItem(account)),
    put(accounts, toCurrentKeyItem(accountId, key, atMs)),
    put(keys, toKeyItem(accountId, key)),
    ...(chatId === undefined ? [] : [put(accounts, newChatItem(chatId, accountId))]),
    ...(creditPicos === 0n ? [] : [put(accounts, toCreditItem(credit))]),
  ]);
  return cancelled ? 'exists' : 'opened';
};

const toAccountItem = ({ accountId, chatId, creditPicos }: NewAccount): Item => ({
  ...newAccountItem(accountId),
  available: number(creditPicos),
  credited: number(creditPicos),
  ...(chatId === undefined ? {} : { chat: text(chatId) }),
});
