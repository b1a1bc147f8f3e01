import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { KeyReplacement, NewKey } from '../../core/accounts/account-store.ts';
import type { AccountTables } from './account-store.ts';
import { number, text } from './attributes.ts';
import { currentKeyKey, toCurrentKeyItem } from './chat-item.ts';
import { toKeyItem } from './key-store.ts';
import { accountKey } from './ledger-items.ts';
import { failed, putNew, transact } from './transaction.ts';

interface FirstKey {
  readonly accountId: string;
  readonly key: NewKey;
  readonly atMs: number;
}

export const putFirstKey = async (
  client: DynamoDBClient,
  tables: AccountTables,
  { accountId, key, atMs }: FirstKey,
): Promise<'put' | 'has-key' | 'no-account'> => {
  const cancelled = await transact(client, [
    ifActive(tables, accountId),
    putNew(tables.accounts, toCurrentKeyItem(accountId, key, atMs)),
    putNew(tables.keys, toKeyItem(accountId, key)),
  ]);
  if (!cancelled) return 'put';
  return failed(cancelled[0]) ? 'no-account' : 'has-key';
};

/** The account is looked at as well, so that blocking it and replacing its key come one after the other. */
export const replaceKey = async (
  client: DynamoDBClient,
  tables: AccountTables,
  { accountId, oldHash, key, atMs }: KeyReplacement,
): Promise<'replaced' | 'changed' | 'blocked'> => {
  const cancelled = await transact(client, [
    ifActive(tables, accountId),
    {
      Put: {
        TableName: tables.accounts,
        Item: toCurrentKeyItem(accountId, key, atMs),
        ...ifCurrent(oldHash),
      },
    },
    putNew(tables.keys, toKeyItem(accountId, key)),
    revoke(tables, oldHash),
  ]);
  if (!cancelled) return 'replaced';
  return failed(cancelled[0]) ? 'blocked' : 'changed';
};

export const revokeKey = async (
  client: DynamoDBClient,
  tables: AccountTables,
  accountId: string,
  hash: string,
): Promise<'revoked' | 'changed'> => {
  const current = ifCurrent(hash);
  const cancelled = await transact(client, [
    {
      Update: {
        TableName: tables.accounts,
        Key: currentKeyKey(accountId),
        UpdateExpression: 'SET revoked = :revoked',
        ...current,
        ExpressionAttributeValues: { ...current.ExpressionAttributeValues, ':revoked': { BOOL: true } },
      },
    },
    revoke(tables, hash),
  ]);
  return cancelled ? 'changed' : 'revoked';
};

interface Blocking {
  readonly accountId: string;
  readonly isBlocked: boolean;
  readonly hash: string | undefined;
}

/** The account itself, so that it holds no money any more, and its key, so that it is let in nowhere. */
export const setBlocked = async (
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

const ifActive = ({ accounts }: AccountTables, accountId: string): TransactWriteItem => ({
  ConditionCheck: {
    TableName: accounts,
    Key: accountKey(accountId),
    ConditionExpression: '#status = :active',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':active': text('active') },
  },
});

const ifCurrent = (hash: string) => ({
  ConditionExpression: '#hash = :hash',
  ExpressionAttributeNames: { '#hash': 'hash' },
  ExpressionAttributeValues: { ':hash': text(hash) },
});

const revoke = ({ keys }: AccountTables, hash: string): TransactWriteItem => ({
  Update: {
    TableName: keys,
    Key: { pk: text(hash) },
    UpdateExpression: 'SET #status = :revoked',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':revoked': text('revoked') },
  },
});
