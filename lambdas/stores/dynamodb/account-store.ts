import {
  type DynamoDBClient,
  GetItemCommand,
  type TransactWriteItem,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { AccountStore, NewAccount } from '../../core/accounts/account-store.ts';
import { START_REF } from '../../core/ledger/credit.ts';
import { type Item, number, text } from './attributes.ts';
import { chatKey, currentKeyKey, newChatItem, toChat, toCurrentKeyItem, toProfile } from './chat-item.ts';
import { send } from './failures.ts';
import { type AccountTables, ifCurrent, toKeyItem } from './key-store.ts';
import { accountKey, newAccountItem } from './ledger-items.ts';
import { toCreditItem } from './ledger-store.ts';
import { failed, putNew, transact } from './transaction.ts';

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

interface Blocking {
  readonly accountId: string;
  readonly isBlocked: boolean;
  readonly hash: string | undefined;
}

/** The account itself, so that it holds no money any more, and its key, so that it is let in nowhere. */
const setBlocked = async (
  client: DynamoDBClient,
  tables: AccountTables,
  { accountId, isBlocked, hash }: Blocking,
): Promise<'set' | 'changed' | 'no-account'> => {
  const account: TransactWriteItem = {
    Update: {
      TableName: tables.accounts,
      Key: accountKey(accountId),
      UpdateExpression: 'SET #status = :status, version = version + :one',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':status': text(isBlocked ? 'blocked' : 'active'), ':one': number(1) },
    },
  };
  const cancelled = await transact(client, [account, ...blockKey(tables, { accountId, isBlocked, hash })]);
  if (!cancelled) return 'set';
  return failed(cancelled[0]) ? 'no-account' : 'changed';
};

const blockKey = ({ accounts, keys }: AccountTables, { accountId, isBlocked, hash }: Blocking): TransactWriteItem[] => {
  const Key = currentKeyKey(accountId);
  if (hash === undefined) {
    return [{ ConditionCheck: { TableName: accounts, Key, ConditionExpression: 'attribute_not_exists(pk)' } }];
  }
  return [
    { ConditionCheck: { TableName: accounts, Key, ...ifCurrent(hash) } },
    {
      Update: {
        TableName: keys,
        Key: { pk: text(hash) },
        UpdateExpression: 'SET blocked = :blocked',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':blocked': { BOOL: isBlocked } },
      },
    },
  ];
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
