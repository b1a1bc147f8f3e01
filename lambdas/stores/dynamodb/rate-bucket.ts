import { type AddressCounters, type Bucket, latestTatMicros } from '../../core/limits/rate-limit.ts';
import type { DynamoDB, UpdateRequest } from './dynamodb.ts';
import { type Item, readNumber } from './item.ts';

export interface BucketUpdate {
  readonly table: string;
  readonly key: Item;
  readonly bucket: Bucket;
  readonly nowMicros: number;
  /** Further condition on the item, and the values that it uses. */
  readonly condition?: string;
  readonly conditionNames?: Record<string, string>;
  readonly values?: Item;
  /** Further assignments, such as a time to live. */
  readonly set?: string;
  readonly createsItem: boolean;
}

export type BucketReply = { readonly taken: Item } | { readonly refused: Item | undefined };

/**
 * Takes one request from a bucket stored as `tat`. An update expression has no maximum, so there are two branches: an
 * idle bucket restarts at the present, and a busy one advances by an interval. A failed branch returns the item; if
 * that fits the other branch, that one is tried. Two concurrent requests can switch the branch, so there is a third
 * attempt.
 */
export const takeFromBucket = async (db: DynamoDB, update: BucketUpdate): Promise<BucketReply> => {
  let refused: Item | undefined;
  let idle = true;
  for (let tried = 0; tried < 3; tried += 1) {
    const reply = await db.hot.update(toRequest(update, idle));
    if ('written' in reply) return { taken: reply.written };
    refused = reply.conditionFailed;
    if (!refused) return { refused };
    const tatMicros = refused.tat === undefined ? 0 : readNumber(refused, 'tat');
    if (tatMicros > latestTatMicros(update.bucket, update.nowMicros)) return { refused };
    const nextIdle = tatMicros <= update.nowMicros;
    if (nextIdle === idle) return { refused };
    idle = nextIdle;
  }
  return { refused };
};

const toRequest = (update: BucketUpdate, idle: boolean): UpdateRequest => {
  const { bucket, nowMicros } = update;
  const fresh = update.createsItem ? '(attribute_not_exists(tat) OR tat <= :now)' : 'tat <= :now';
  const branch = idle ? fresh : 'tat > :now AND tat <= :latest';
  return {
    table: update.table,
    key: update.key,
    update: `SET tat = ${idle ? ':next' : 'tat + :interval'}${update.set ? `, ${update.set}` : ''}`,
    condition: update.condition ? `${update.condition} AND ${branch}` : branch,
    names: update.conditionNames,
    values: {
      ...update.values,
      ':now': nowMicros,
      ...(idle
        ? { ':next': nowMicros + bucket.intervalMicros }
        : { ':interval': bucket.intervalMicros, ':latest': latestTatMicros(bucket, nowMicros) }),
    },
    returns: 'ALL_NEW',
    onFailure: 'ALL_OLD',
  };
};

const KEPT_SECONDS = 300;

/** The database must not repeat calls, because a late result is useless. */
export const createAddressCounters = (db: DynamoDB, table: string): AddressCounters => ({
  take: async (address, bucket, nowMicros) => {
    const reply = await takeFromBucket(db, {
      table,
      key: { pk: `ip#${address}` },
      bucket,
      nowMicros,
      createsItem: true,
      set: 'expiresAt = :expiresAt',
      values: { ':expiresAt': Math.ceil(nowMicros / 1_000_000) + KEPT_SECONDS },
    });
    return 'taken' in reply;
  },
});
