import { StoreError } from '../../core/errors/store-error.ts';
import {
  type AddressCounters,
  type Bucket,
  type BucketAttempt,
  furthestTatMicros,
  isPossible,
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
 * selects. A third branch replaces a time that is further ahead than the bucket allows, and refuses the request. Each
 * update that is sent has a fresh time. The database must not repeat calls itself, because it would send the old time
 * again.
 */
export const takeFromBucket = (db: BucketDatabase, update: BucketUpdate): Promise<BucketReply> => {
  let branch: Branch = expectedTat(update.seen) <= update.now() ? 'idle' : 'busy';
  return takeAtReply(update.bucket, update.now, async (): Promise<BucketAttempt<BucketReply>> => {
    const { reply, nowMicros } = await send(db, update, branch);
    remember(update.seen, 'written' in reply ? reply.written : reply.conditionFailed);
    if ('written' in reply) {
      const { written } = reply;
      return isAdmission(branch)
        ? { result: { taken: written } }
        : { result: { refused: written }, refusedByMicros: tatOf(written) };
    }
    const refused = reply.conditionFailed;
    if (!refused) return { result: { refused } };
    if (update.decides?.(refused)) return { result: { refused } };
    const tatMicros = tatOf(refused);
    // The branch fits the bucket, so the further condition has failed.
    if (fits(branch, update.bucket, tatMicros, nowMicros)) return { result: { refused } };
    branch = branchFor(update.bucket, tatMicros, update.now());
    return { result: { refused }, refusedByMicros: tatMicros };
  });
};

/** Update of a bucket: of an idle one, of a busy one, or of one whose time, in microseconds, is too far ahead. */
type Branch = 'idle' | 'busy' | { readonly aheadMicros: number };

const isAdmission = (branch: Branch): branch is 'idle' | 'busy' => typeof branch === 'string';

const branchFor = (bucket: Bucket, tatMicros: number, nowMicros: number): Branch => {
  if (tatMicros <= nowMicros) return 'idle';
  return isPossible(bucket, tatMicros, nowMicros) ? 'busy' : { aheadMicros: tatMicros };
};

const fits = (branch: Branch, bucket: Bucket, tatMicros: number, nowMicros: number): boolean => {
  if (branch === 'idle') return tatMicros <= nowMicros;
  if (branch === 'busy') return tatMicros > nowMicros && tatMicros <= latestTatMicros(bucket, nowMicros);
  return tatMicros === branch.aheadMicros;
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

const send = async (db: BucketDatabase, update: BucketUpdate, branch: Branch): Promise<Sent> => {
  for (let repeats = update.repeats; ; repeats -= 1) {
    const nowMicros = update.now();
    if (isAdmission(branch)) countSent(update, nowMicros);
    try {
      return { reply: await db.hot.update(toRequest(update, nowMicros, branch)), nowMicros };
    } catch (error) {
      if (repeats === 0 || !(error instanceof StoreError) || error.kind !== 'unavailable') throw error;
    }
  }
};

/** Expressions of a branch, with their values. */
interface BranchParts {
  readonly tat: string;
  readonly condition: string;
  readonly values: Item;
}

const partsOf = (branch: Branch, { bucket, createsItem }: BucketUpdate, nowMicros: number): BranchParts => {
  if (branch === 'idle') {
    const condition = createsItem ? '(attribute_not_exists(tat) OR tat <= :now)' : 'tat <= :now';
    return { tat: ':next', condition, values: { ':now': nowMicros, ':next': nowMicros + bucket.intervalMicros } };
  }
  if (branch === 'busy') {
    return {
      tat: 'tat + :interval',
      condition: 'tat > :now AND tat <= :latest',
      values: {
        ':now': nowMicros,
        ':interval': bucket.intervalMicros,
        ':latest': latestTatMicros(bucket, nowMicros),
      },
    };
  }
  // An update that lands late must not lower a time that is possible by then.
  return {
    tat: ':furthest',
    condition: 'tat = :ahead',
    values: { ':furthest': furthestTatMicros(bucket, nowMicros), ':ahead': branch.aheadMicros },
  };
};

const toRequest = (update: BucketUpdate, nowMicros: number, branch: Branch): UpdateRequest => {
  const { set } = update;
  const { tat, condition, values } = partsOf(branch, update, nowMicros);
  return {
    table: update.table,
    key: update.key,
    update: `SET tat = ${tat}${set ? `, ${set.assignments}` : ''}`,
    condition: update.condition ? `${update.condition} AND ${condition}` : condition,
    names: update.conditionNames,
    values: { ...update.values, ...set?.values(nowMicros), ...values },
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
