import {
  type DynamoDBClient,
  GetItemCommand,
  type TransactWriteItem,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { KeyRecord, KeyReplacement, KeyStore } from '../../core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../core/accounts/keys.ts';
import { type Item, number, readText, text } from './attributes.ts';
import { currentKeyKey, toCurrentKey, toCurrentKeyItem } from './chat-item.ts';
import { send } from './failures.ts';
import { accountKey } from './ledger-items.ts';
import { takeFromBucket } from './rate-bucket.ts';
import { failed, putNew, transact } from './transaction.ts';

export interface AccountTables {
  readonly accounts: string;
  readonly keys: string;
}

export const createKeyStore = (client: DynamoDBClient, tables: AccountTables): KeyStore => ({
  take: async (hash, bucket, nowMicros) => {
    const reply = await takeFromBucket(client, {
      table: tables.keys,
      key: { pk: text(hash) },
      bucket,
      nowMicros,
      createsItem: false,
      condition: '#status = :active',
      conditionNames: { '#status': 'status' },
      values: { ':active': text('active') },
    });
    if ('taken' in reply) return { kind: 'taken', key: toKey(hash, reply.taken) };
    return reply.refused ? { kind: 'refused', key: toKey(hash, reply.refused) } : { kind: 'unknown' };
  },
  read: async (hash) => {
    const item = await read(client, tables.keys, { pk: text(hash) });
    return item && toKey(hash, item);
  },
  currentKey: async (accountId) => {
    const item = await read(client, tables.accounts, currentKeyKey(accountId));
    return item && toCurrentKey(item);
  },
  putFirstKey: (accountId, key, atMs) => putFirstKey(client, tables, { accountId, key, atMs }),
  replaceKey: (replacement) => replaceKey(client, tables, replacement),
  revokeKey: (accountId, hash) => revokeKey(client, tables, accountId, hash),
  markShown: (accountId, hash) => markShown(client, tables, accountId, hash),
});

const read = async (client: DynamoDBClient, table: string, key: Item): Promise<Item | undefined> => {
  const command = new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true });
  const reply = await send(() => client.send(command));
  return 'ok' in reply ? reply.ok.Item : undefined;
};

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

const toKey = (hash: string, item: Item): KeyRecord => ({
  keyId: keyIdOf(hash),
  accountId: readText(item, 'accountId'),
  status: readText(item, 'status') === 'active' ? 'active' : 'revoked',
  blocked: item.blocked?.BOOL === true,
  tatMicros: Number(item.tat?.N ?? '0'),
});

interface FirstKey {
  readonly accountId: string;
  readonly key: NewKey;
  readonly atMs: number;
}

const putFirstKey = async (
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
const replaceKey = async (
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

const revokeKey = async (
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

const markShown = async (
  client: DynamoDBClient,
  { accounts }: AccountTables,
  accountId: string,
  hash: string,
): Promise<void> => {
  const current = ifCurrent(hash);
  const command = new UpdateItemCommand({
    TableName: accounts,
    Key: currentKeyKey(accountId),
    UpdateExpression: 'SET shown = :shown',
    ...current,
    ExpressionAttributeValues: { ':shown': { BOOL: true }, ...current.ExpressionAttributeValues },
  });
  await send(() => client.send(command));
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

export const ifCurrent = (hash: string) => ({
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
