import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { KeyLabel } from '../../core/accounts/api-key.ts';
import type { KeyRecord, KeyStore } from '../../core/accounts/key-store.ts';
import { type Item, number, readText, text } from './attributes.ts';
import { takeFromBucket } from './bucket-update.ts';
import { send } from './failures.ts';

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

export interface NewKey {
  readonly hash: string;
  readonly accountId: string;
  readonly label: KeyLabel;
  readonly pepperId: string;
}

/** Puts a key that was just made. An existing one is left as it is. Throws StoreError. */
export const putKey = async (client: DynamoDBClient, table: string, key: NewKey): Promise<'created' | 'exists'> => {
  const item: Item = {
    pk: text(key.hash),
    accountId: text(key.accountId),
    status: text('active'),
    prefix: text(key.label.prefix),
    lastFour: text(key.label.lastFour),
    pepperId: text(key.pepperId),
    tat: number(0),
  };
  const reply = await send(() =>
    client.send(new PutItemCommand({ TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(pk)' })),
  );
  return 'ok' in reply ? 'created' : 'exists';
};

const toKey = (item: Item): KeyRecord => ({
  accountId: readText(item, 'accountId'),
  status: readText(item, 'status') === 'active' ? 'active' : 'revoked',
  blocked: item.blocked?.BOOL === true,
  tatMicros: Number(item.tat?.N ?? '0'),
});
