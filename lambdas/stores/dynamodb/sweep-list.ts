import { type DynamoDBClient, UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { Due } from '../../core/ledger/ledger.ts';
import { accountIdOf, accountKey, shards } from './account-item.ts';
import { number, text } from './attributes.ts';
import { send } from './failures.ts';
import { query } from './query.ts';

/** Accounts with open holds stand in a sparse index, ordered by when they are to be looked at. */
export const due = async (client: DynamoDBClient, table: string, nowMs: number): Promise<Due[]> => {
  const perShard = await Promise.all(shards.map((shard) => dueOf(client, table, shard, nowMs)));
  return perShard.flat();
};

const dueOf = async (client: DynamoDBClient, table: string, shard: string, nowMs: number): Promise<Due[]> => {
  const items = await query(client, {
    TableName: table,
    IndexName: 'sweep',
    KeyConditionExpression: '#shard = :shard AND sweepAt <= :now',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: { ':shard': text(shard), ':now': number(nowMs) },
  });
  return items.map((item) => ({ accountId: accountIdOf(item) }));
};

/** Off the list only while no hold is open: one may have been placed since the caller looked. */
export const reschedule = async (
  client: DynamoDBClient,
  table: string,
  accountId: string,
  sweepAtMs: number | undefined,
): Promise<void> => {
  const change: Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'> =
    sweepAtMs === undefined
      ? {
          UpdateExpression: 'SET version = version + :one REMOVE sweepAt',
          ConditionExpression: 'size(holds) = :none',
          ExpressionAttributeValues: { ':one': number(1), ':none': number(0) },
        }
      : {
          UpdateExpression: 'SET version = version + :one, sweepAt = :at',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':one': number(1), ':at': number(sweepAtMs) },
        };
  await send(() => client.send(new UpdateItemCommand({ TableName: table, Key: accountKey(accountId), ...change })));
};
