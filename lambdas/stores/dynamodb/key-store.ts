import { type DynamoDBClient, GetItemCommand, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { KeyReplacement, NewKey } from '../../core/accounts/account-store.ts';
import type { KeyRecord, KeyStore } from '../../core/accounts/key-store.ts';
import { type Item, number, readText, text } from './attributes.ts';
import { currentKeyKey, toCurrentKeyItem } from './chat-item.ts';
import { send } from './failures.ts';
import { accountKey } from './ledger-items.ts';
import { takeFromBucket } from './rate-bucket.ts';
import { failed, putNew, transact } from './transaction.ts';

export const createKeyStore = (client: DynamoDBClient, table: string): KeyStore => ({
  take: async (hash, bucket, nowMicros) => {
    const reply = await takeFromBucket(client, {
      table,
      key: { pk: text(hash) },
      bucket,
      nowMicros,
      createsItem: false,
      condition: '#status = :active',
      conditionNames: { '#status': 'status' },
      values: { ':active': text('active') },
    });
    if ('taken' in reply) return { kind: 'taken', key: toKey(reply.taken) };
    return reply.refused ? { kind: 'refused', key: toKey(reply.refused) } : { kind: 'unknown' };
  },
  read: async (hash) => {
    const reply = await send(() =>
      client.send(new GetItemCommand({ TableName: table, Key: { pk: text(hash) }, ConsistentRead: true })),
    );
    return 'ok' in reply && reply.ok.Item ? toKey(reply.ok.Item) : undefined;
  },
});

/** A key as it begins. It is never put over another one, and is put together with what names it the account's own. */
export const toKeyItem = (accountId: string, { hash, label, pepperId }: NewKey): Item => ({
  pk: text(hash),
  accountId: text(accountId),
  status: text('active'),
  prefix: text(label.prefix),
  lastFour: text(label.lastFour),
  pepperId: text(pepperId),
  tat: number(0),
});

const toKey = (item: Item): KeyRecord => ({
  accountId: readText(item, 'accountId'),
  status: readText(item, 'status') === 'active' ? 'active' : 'revoked',
  blocked: item.blocked?.BOOL === true,
  tatMicros: Number(item.tat?.N ?? '0'),
});

export interface AccountTables {
  readonly accounts: string;
  readonly keys: string;
}

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
