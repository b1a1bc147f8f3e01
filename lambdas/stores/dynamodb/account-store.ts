import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { AccountStore, NewAccount } from '../../core/accounts/account-store.ts';
import { START_REF } from '../../core/ledger/credit.ts';
import { type Item, number, text } from './attributes.ts';
import { chatKey, currentKeyKey, newChatItem, toChat, toCurrentKey, toCurrentKeyItem, toProfile } from './chat-item.ts';
import { send } from './failures.ts';
import { type AccountTables, putFirstKey, replaceKey, revokeKey, setBlocked, toKeyItem } from './key-store.ts';
import { accountKey, newAccountItem } from './ledger-items.ts';
import { toCreditItem } from './ledger-store.ts';
import { putNew, transact } from './transaction.ts';

export const createAccountStore = (client: DynamoDBClient, tables: AccountTables): AccountStore => {
  const read = async (key: Item): Promise<Item | undefined> => {
    const command = new GetItemCommand({ TableName: tables.accounts, Key: key, ConsistentRead: true });
    const reply = await send(() => client.send(command));
    return 'ok' in reply ? reply.ok.Item : undefined;
  };
  const update = (key: Item, change: Change) => updateItem(client, tables.accounts, key, change);
  return {
    open: (account) => openAccount(client, tables, account),
    chat: async (chatId) => {
      const item = await read(chatKey(chatId));
      return item && toChat(chatId, item);
    },
    profile: async (accountId) => {
      const item = await read(accountKey(accountId));
      return item && toProfile(item);
    },
    currentKey: async (accountId) => {
      const item = await read(currentKeyKey(accountId));
      return item && toCurrentKey(item);
    },
    putFirstKey: (accountId, key, atMs) => putFirstKey(client, tables, { accountId, key, atMs }),
    replaceKey: (replacement) => replaceKey(client, tables, replacement),
    revokeKey: (accountId, hash) => revokeKey(client, tables, accountId, hash),
    markShown: async (accountId, hash) => {
      await update(currentKeyKey(accountId), {
        set: 'shown = :shown',
        condition: '#hash = :hash',
        names: { '#hash': 'hash' },
        values: { ':shown': { BOOL: true }, ':hash': text(hash) },
      });
    },
    setBlocked: (accountId, isBlocked, hash) => setBlocked(client, tables, { accountId, isBlocked, hash }),
    setThreshold: async (accountId, picos) => {
      const done = await update(accountKey(accountId), {
        set: 'threshold = :picos, version = version + :one',
        condition: 'attribute_exists(pk)',
        values: { ':picos': number(picos), ':one': number(1) },
      });
      return done ? 'set' : 'no-account';
    },
    setLanguage: async (chatId, language) => {
      await update(chatKey(chatId), {
        set: '#language = :language',
        // What is known already costs no write, and is no change for the stream.
        condition: 'attribute_exists(pk) AND (attribute_not_exists(#language) OR #language <> :language)',
        names: { '#language': 'language' },
        values: { ':language': text(language) },
      });
    },
    setChatClosed: async (chatId, isClosed) => {
      await update(chatKey(chatId), {
        set: 'closed = :closed',
        condition: 'attribute_exists(pk)',
        values: { ':closed': { BOOL: isClosed } },
      });
    },
    markNoticed: async (chatId, version) => {
      await update(chatKey(chatId), {
        set: 'noticed = :version',
        condition: 'noticed < :version',
        values: { ':version': number(version) },
      });
    },
  };
};

interface Change {
  readonly set: string;
  readonly condition: string;
  readonly names?: Record<string, string>;
  readonly values: Item;
}

/** Whether the condition held and the change was made. */
const updateItem = async (
  client: DynamoDBClient,
  table: string,
  key: Item,
  { set, condition, names, values }: Change,
): Promise<boolean> => {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: key,
    UpdateExpression: `SET ${set}`,
    ConditionExpression: condition,
    ...(names ? { ExpressionAttributeNames: names } : {}),
    ExpressionAttributeValues: values,
  });
  return 'ok' in (await send(() => client.send(command)));
};

const openAccount = async (
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
