import { StoreError } from '../../core/errors/store-error.ts';
import {
  type AddressCounters,
  type Bucket,
  type BucketAttempt,
  latestTatMicros,
  type NowMicros,
  takeAtReply,
} from '../../core/limits/rate-limit.ts';
import type { DynamoDB, UpdateRequest, WriteResult } from './dynamodb.ts';
import { type Item, readNumber } from './item.ts';

export interface BucketDatabase {
  readonly hot: Pick<DynamoDB, 'update'>;
}

export interface BucketUpdate {
  readonly table: string;
  readonly key: Item;
  readonly bucket: Bucket;
  readonly now: NowMicros;
  /** Number of times that an update without a reply is sent again. */
  readonly repeats: number;
  /** Further condition on the item, and the values that it uses. */
  readonly condition?: string;
  readonly conditionNames?: Record<string, string>;
  readonly values?: Item;
  /** Whether the stored item refuses the request whatever its bucket. */
  readonly decides?: (item: Item) => boolean;
  /** Further assignments, such as a time to live, and their values at the time of the update. */
  readonly set?: { readonly assignments: string; readonly values: (nowMicros: number) => Item };
  readonly createsItem: boolean;
}

export type BucketReply = { readonly taken: Item } | { readonly refused: Item | undefined };

/**
 * Takes one request from a bucket stored as `tat`. An update expression has no maximum, so there are two branches: an
 * idle bucket restarts at the present, and a busy one advances by an interval. A failed branch returns the item, which
 * selects the branch of the next attempt. Each update that is sent has a fresh time. The database must not repeat calls
 * itself, because it would send the old time again.
 */
export const takeFromBucket = (db: BucketDatabase, update: BucketUpdate): Promise<BucketReply> => {
  let idle = true;
  return takeAtReply(update.bucket, update.now, async (): Promise<BucketAttempt<BucketReply>> => {
    const { reply, nowMicros } = await send(db, update, idle);
    if ('written' in reply) return { result: { taken: reply.written } };
    const refused = reply.conditionFailed;
    if (!refused) return { result: { refused } };
    if (update.decides?.(refused)) return { result: { refused } };
    const tatMicros = refused.tat === undefined ? 0 : readNumber(refused, 'tat');
    // The branch fits the bucket, so the further condition has failed.
    if (fits({ bucket: update.bucket, nowMicros, idle }, tatMicros)) return { result: { refused } };
    idle = tatMicros <= update.now();
    return { result: { refused }, refusedByMicros: tatMicros };
  });
};

interface Sent {
  readonly reply: WriteResult;
  /** Time of the update that got the reply. */
  readonly nowMicros: number;
}

const send = async (db: BucketDatabase, update: BucketUpdate, idle: boolean): Promise<Sent> => {
  for (let repeats = update.repeats; ; repeats -= 1) {
    const nowMicros = update.now();
    try {
      return { reply: await db.hot.update(toRequest(update, nowMicros, idle)), nowMicros };
    } catch (error) {
      if (repeats === 0 || !(error instanceof StoreError) || error.kind !== 'unavailable') throw error;
    }
  }
};

interface Branch {
  readonly bucket: Bucket;
  readonly nowMicros: number;
  readonly idle: boolean;
}

const fits = ({ bucket, nowMicros, idle }: Branch, tatMicros: number): boolean =>
  idle ? tatMicros <= nowMicros : tatMicros > nowMicros && tatMicros <= latestTatMicros(bucket, nowMicros);

const toRequest = (update: BucketUpdate, nowMicros: number, idle: boolean): UpdateRequest => {
  const { bucket, set } = update;
  const fresh = update.createsItem ? '(attribute_not_exists(tat) OR tat <= :now)' : 'tat <= :now';
  const branch = idle ? fresh : 'tat > :now AND tat <= :latest';
  return {
    table: update.table,
    key: update.key,
    update: `SET tat = ${idle ? ':next' : 'tat + :interval'}${set ? `, ${set.assignments}` : ''}`,
    condition: update.condition ? `${update.condition} AND ${branch}` : branch,
    names: update.conditionNames,
    values: {
      ...update.values,
      ...set?.values(nowMicros),
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
export const createAddressCounters = (db: BucketDatabase, table: string): AddressCounters => ({
  take: async (address, bucket, now) => {
    const reply = await takeFromBucket(db, {
      table,
      key: { pk: `ip#${address}` },
      bucket,
      now,
      repeats: 0,
      createsItem: true,
      set: {
        assignments: 'expiresAt = :expiresAt',
        values: (nowMicros) => ({ ':expiresAt': Math.ceil(nowMicros / 1_000_000) + KEPT_SECONDS }),
      },
    });
    return 'taken' in reply;
  },
});
