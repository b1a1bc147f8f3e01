import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { NewKey } from '../../core/accounts/account-store.ts';
import type { KeyRecord, KeyStore } from '../../core/accounts/key-store.ts';
import { type Item, number, readText, text } from './attributes.ts';
import { send } from './failures.ts';
import { takeFromBucket } from './rate-bucket.ts';

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
