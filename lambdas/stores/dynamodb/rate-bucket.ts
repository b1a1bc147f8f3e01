import { StoreError } from '../../core/errors/store-error.ts';
import {
  type AddressCounters,
  type Bucket,
  type BucketAttempt,
  latestTatMicros,
  type NowMicros,
  takeAtReply,
} from '../../core/limits/rate-limit.ts';
import type { RecentMap } from '../../core/recent-map.ts';
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
  /** Buckets that this process has used. Only for items that exist, because only an idle bucket can be created. */
  readonly seen?: SeenBuckets;
}

/** The theoretical arrival times that the process expects, by the item's key. They select the first branch. */
export interface SeenBuckets {
  readonly id: string;
  readonly tats: RecentMap<number>;
}

export type BucketReply = { readonly taken: Item } | { readonly refused: Item | undefined };

/**
 * Takes one request from a bucket stored as `tat`. An update expression has no maximum, so there are two branches: an
 * idle bucket restarts at the present, and a busy one advances by an interval. A failed branch returns the item, which
 * selects the branch of the next attempt. A bucket that this process has used starts with the branch that its last time
 * selects. Each update that is sent has a fresh time. The database must not repeat calls itself, because it would send
 * the old time again.
 */
export const takeFromBucket = (db: BucketDatabase, update: BucketUpdate): Promise<BucketReply> => {
  let idle = expectedTat(update.seen) <= update.now();
  return takeAtReply(update.bucket, update.now, async (): Promise<BucketAttempt<BucketReply>> => {
    const { reply, nowMicros } = await send(db, update, idle);
    remember(update.seen, 'written' in reply ? reply.written : reply.conditionFailed);
    if ('written' in reply) return { result: { taken: reply.written } };
    const refused = reply.conditionFailed;
    if (!refused) return { result: { refused } };
    if (update.decides?.(refused)) return { result: { refused } };
    const tatMicros = tatOf(refused);
    // The branch fits the bucket, so the further condition has failed.
    if (fits({ bucket: update.bucket, nowMicros, idle }, tatMicros)) return { result: { refused } };
    idle = tatMicros <= update.now();
    return { result: { refused }, refusedByMicros: tatMicros };
  });
};

const tatOf = (item: Item): number => (item.tat === undefined ? 0 : readNumber(item, 'tat'));

const expectedTat = (seen: SeenBuckets | undefined): number => seen?.tats.get(seen.id) ?? 0;

const remember = (seen: SeenBuckets | undefined, item: Item | undefined): void => {
  if (item) seen?.tats.set(seen.id, tatOf(item));
};

/** An update that is under way counts as done, so that concurrent ones select the branch after it. */
const countSent = ({ seen, bucket }: BucketUpdate, nowMicros: number): void => {
  seen?.tats.set(seen.id, Math.max(expectedTat(seen), nowMicros) + bucket.intervalMicros);
};

interface Sent {
  readonly reply: WriteResult;
  /** Time of the update that got the reply. */
  readonly nowMicros: number;
}

const send = async (db: BucketDatabase, update: BucketUpdate, idle: boolean): Promise<Sent> => {
  for (let repeats = update.repeats; ; repeats -= 1) {
    const nowMicros = update.now();
    countSent(update, nowMicros);
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
