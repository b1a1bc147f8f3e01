import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type AddressCounters, type Bucket, latestTatMicros } from '../../core/limits/rate-limit.ts';
import { type Item, number, text } from './attributes.ts';
import { send } from './failures.ts';

export interface BucketUpdate {
  readonly table: string;
  readonly key: Item;
  readonly bucket: Bucket;
  readonly nowMicros: number;
  /** A further condition on the item, and values it names. */
  readonly condition?: string;
  readonly conditionNames?: Record<string, string>;
  readonly values?: Item;
  /** Further assignments, such as a time to live. */
  readonly set?: string;
  readonly createsItem: boolean;
}

export type BucketReply = { readonly taken: Item } | { readonly refused: Item | undefined };

/**
 * Takes one request from a bucket kept as `tat`. An update expression has no maximum, so there are two branches: an idle
 * bucket starts again at the present, a busy one moves on by an interval. A branch that fails shows the item; if that item
 * fits the other branch, that one is tried. Two concurrent requests can make a bucket change sides, hence a third try.
 */
export const takeFromBucket = async (client: DynamoDBClient, update: BucketUpdate): Promise<BucketReply> => {
  let refused: Item | undefined;
  let idle = true;
  for (let tried = 0; tried < 3; tried += 1) {
    const reply = await send(() => client.send(command(update, idle)));
    if ('ok' in reply) return { taken: reply.ok.Attributes ?? {} };
    refused = reply.conditionFailed;
    if (!refused) return { refused };
    const tatMicros = Number(refused.tat?.N ?? '0');
    if (tatMicros > latestTatMicros(update.bucket, update.nowMicros)) return { refused };
    const nextIdle = tatMicros <= update.nowMicros;
    if (nextIdle === idle) return { refused };
    idle = nextIdle;
  }
  return { refused };
};

const command = (update: BucketUpdate, idle: boolean): UpdateItemCommand => {
  const { bucket, nowMicros } = update;
  const fresh = update.createsItem ? '(attribute_not_exists(tat) OR tat <= :now)' : 'tat <= :now';
  const branch = idle ? fresh : 'tat > :now AND tat <= :latest';
  return new UpdateItemCommand({
    TableName: update.table,
    Key: update.key,
    UpdateExpression: `SET tat = ${idle ? ':next' : 'tat + :interval'}${update.set ? `, ${update.set}` : ''}`,
    ConditionExpression: update.condition ? `${update.condition} AND ${branch}` : branch,
    ...(update.conditionNames ? { ExpressionAttributeNames: update.conditionNames } : {}),
    ExpressionAttributeValues: {
      ...update.values,
      ':now': number(nowMicros),
      ...(idle
        ? { ':next': number(nowMicros + bucket.intervalMicros) }
        : { ':interval': number(bucket.intervalMicros), ':latest': number(latestTatMicros(bucket, nowMicros)) }),
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
};

const KEPT_SECONDS = 300;

/** The client is one that does not repeat a call: a late verdict is worth nothing. */
export const createAddressCounters = (client: DynamoDBClient, table: string): AddressCounters => ({
  take: async (address, bucket, nowMicros) => {
    const reply = await takeFromBucket(client, {
      table,
      key: { pk: text(`ip#${address}`) },
      bucket,
      nowMicros,
      createsItem: true,
      set: 'expiresAt = :expiresAt',
      values: { ':expiresAt': number(Math.ceil(nowMicros / 1_000_000) + KEPT_SECONDS) },
    });
    return 'taken' in reply;
  },
});
