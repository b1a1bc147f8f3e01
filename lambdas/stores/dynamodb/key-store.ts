import { keyBucketOf } from '../../core/accounts/key-ring.ts';
import type { KeyRecord, KeyReplacement, KeyStore } from '../../core/accounts/key-store.ts';
import type { NewKey } from '../../core/accounts/keys.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import type { Bucket, NowMicros } from '../../core/limits/rate-limit.ts';
import { factorAt, type StoredFactor } from '../../core/pricing/estimate-factor.ts';
import { RecentMap } from '../../core/recent-map.ts';
import { currentKeyKey, toCurrentKey, toCurrentKeyItem } from './chat-item.ts';
import { type DynamoDB, putNew } from './dynamodb.ts';
import { type Item, readText } from './item.ts';
import {
  type AccountTables,
  type Condition,
  ifActive,
  ifCurrent,
  ifUsable,
  revoke,
  toFactor,
  toFactorAttributes,
  toKey,
  toKeyItem,
  toLimits,
} from './key-item.ts';
import { changeKeyRing, readKeyRing } from './key-ring.ts';
import { type BucketDatabase, type BucketReply, takeFromBucket } from './rate-bucket.ts';

/** Number of times that `take` sends an update again after a lost reply. */
const TAKE_REPEATS = 1;

/** Number of times that `take` follows a change of the key's own rate. */
const TAKE_TRIES = 3;

/** `take` uses the client that sends each call once, so that a repeated update has a fresh time. */
export const createKeyStore = (
  { once, repeating: db }: { readonly once: BucketDatabase; readonly repeating: DynamoDB },
  tables: AccountTables,
): KeyStore => ({
  take: createTake(once, tables),
  read: async (hash) => {
    const item = await db.get(tables.keys, { pk: hash });
    return item && toKey(hash, item);
  },
  readMany: (hashes) => readMany(db, tables, hashes),
  ring: (accountId) => readKeyRing(db, tables, accountId),
  changeRing: (change) => changeKeyRing(db, tables, change),
  currentKey: async (accountId) => {
    const item = await db.get(tables.accounts, currentKeyKey(accountId));
    return item && toCurrentKey(item);
  },
  putFirstKey: (accountId, key, atMs) => putFirstKey(db, tables, { accountId, key, atMs }),
  replaceKey: (replacement) => replaceKey(db, tables, replacement),
  revokeKey: (accountId, hash) => revokeKey(db, tables, accountId, hash),
  markShown: (accountId, hash) => markShown(db, tables, accountId, hash),
  raiseFactor: (hash, raised) => raiseFactor(once, tables, hash, raised),
  setAllowance: async (hash, { picos, atMs }) => {
    await once.hot.update({
      table: tables.keys,
      key: { pk: hash },
      update: 'SET allowance = :picos, allowanceAt = :at',
      condition: 'attribute_exists(pk)',
      values: { ':picos': picos, ':at': atMs },
    });
  },
});

/** Number of API keys whose own rates and buckets a process remembers. */
const KEYS_MAX = 10_000;

/**
 * The update has the bucket of the rate that the key had last. Its condition requires this rate. If the item has
 * another rate, the failed condition returns it, and a further update uses it.
 */
const createTake = (once: BucketDatabase, tables: AccountTables): KeyStore['take'] => {
  const rates = new RecentMap<number>(KEYS_MAX);
  const tats = new RecentMap<number>(KEYS_MAX);
  const takeAt = (hash: string, every: Bucket, now: NowMicros, rate: number | undefined): Promise<BucketReply> =>
    takeFromBucket(once, {
      table: tables.keys,
      key: { pk: hash },
      bucket: keyBucketOf(every, { rate }),
      now,
      repeats: TAKE_REPEATS,
      createsItem: false,
      seen: { id: hash, tats },
      condition: `${ifUsable.condition} AND ${rate === undefined ? 'attribute_not_exists(#rate)' : '#rate = :rate'}`,
      conditionNames: { ...ifUsable.names, '#rate': 'rate' },
      values: { ...ifUsable.values, ...(rate === undefined ? {} : { ':rate': rate }) },
      decides: (item) => toLimits(item).rate !== rate,
    });
  return async (hash, every, now) => {
    for (let tries = TAKE_TRIES; tries > 0; tries -= 1) {
      const rate = rates.get(hash);
      const reply = await takeAt(hash, every, now, rate);
      if ('taken' in reply) return { kind: 'taken', key: toKey(hash, reply.taken) };
      if (!reply.refused) return { kind: 'unknown' };
      const key = toKey(hash, reply.refused);
      if (key.status === 'revoked' || key.rate === rate) return { kind: 'refused', key };
      remember(rates, hash, key.rate);
    }
    throw new StoreError('conflict', 'the rate of the key keeps changing');
  };
};

const remember = (rates: RecentMap<number>, hash: string, rate: number | undefined): void => {
  if (rate === undefined) rates.delete(hash);
  else rates.set(hash, rate);
};

const readMany = async (
  db: DynamoDB,
  { keys }: AccountTables,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, KeyRecord>> => {
  if (hashes.length === 0) return new Map();
  const { items, unread } = await db.batchGet(
    keys,
    hashes.map((hash) => ({ pk: hash })),
  );
  if (unread.length > 0) throw new StoreError('throttled', 'the table skipped key items');
  return new Map(items.map((item) => [readText(item, 'pk'), toKey(readText(item, 'pk'), item)]));
};

/**
 * An expression cannot compute the decay. So the first update requires a lower stored factor. If that fails although the
 * stored factor has decayed, a second update also accepts the factor that the first one has seen. A concurrent raise
 * has no decay yet, so the second update replaces it only if it is lower.
 */
const raiseFactor = async (
  { hot }: BucketDatabase,
  { keys }: AccountTables,
  hash: string,
  raised: StoredFactor,
): Promise<KeyRecord | undefined> => {
  const raise = async (condition: string, seen: Item = {}) => {
    const reply = await hot.update({
      table: keys,
      key: { pk: hash },
      update: 'SET estimateFactor = :factor, estimateFactorAt = :at',
      condition,
      values: { ':factor': raised.factor, ':at': raised.atMs, ...seen },
      returns: 'ALL_NEW',
      onFailure: 'ALL_OLD',
    });
    return 'written' in reply ? reply.written : reply.conditionFailed;
  };
  const isHigher = 'attribute_exists(pk) AND (attribute_not_exists(estimateFactor) OR estimateFactor < :factor)';
  const item = await raise(isHigher);
  if (!item) return undefined;
  const key = toKey(hash, item);
  if (!key.factor || factorAt(key.factor, raised.atMs) >= raised.factor) return key;
  const { factor, atMs } = key.factor;
  const last = await raise(`(${isHigher}) OR (estimateFactor = :seen AND estimateFactorAt = :seenAt)`, {
    ':seen': factor,
    ':seenAt': atMs,
  });
  return last && toKey(hash, last);
};

interface FirstKey {
  readonly accountId: string;
  readonly key: NewKey;
  readonly atMs: number;
}

const putFirstKey = async (
  db: DynamoDB,
  tables: AccountTables,
  { accountId, key, atMs }: FirstKey,
): Promise<'put' | 'has-key' | 'no-account'> => {
  const cancelled = await db.transact([
    ifActive(tables, accountId),
    putNew(tables.accounts, toCurrentKeyItem(accountId, key, atMs)),
    putNew(tables.keys, toKeyItem(accountId, key)),
  ]);
  if (!cancelled) return 'put';
  return cancelled[0]?.isConditionFailed ? 'no-account' : 'has-key';
};

/** Maximum number of transactions of a replacement whose estimate factor changes meanwhile. */
const REPLACE_TRIES = 3;

/**
 * Replaces the API key in one transaction that also checks the account, so that a block of the account and the
 * replacement cannot overlap. The first transaction expects a key without an estimate factor. If it has one, the failed
 * condition returns it, and the next transaction gives it to the new key.
 */
const replaceKey = async (
  db: DynamoDB,
  tables: AccountTables,
  { accountId, oldHash, key, atMs }: KeyReplacement,
): Promise<'replaced' | 'changed' | 'blocked'> => {
  let factor: StoredFactor | undefined;
  for (let tries = REPLACE_TRIES; tries > 0; tries -= 1) {
    const cancelled = await db.transact([
      ifActive(tables, accountId),
      {
        put: {
          table: tables.accounts,
          item: toCurrentKeyItem(accountId, key, atMs),
          ...ifCurrent(oldHash),
        },
      },
      putNew(tables.keys, { ...toKeyItem(accountId, key), ...toFactorAttributes(factor) }),
      revoke(tables, oldHash, ifFactor(factor)),
    ]);
    if (!cancelled) return 'replaced';
    const [account, current, added, old] = cancelled;
    if (account?.isConditionFailed) return 'blocked';
    if (current?.isConditionFailed || added?.isConditionFailed || !old?.item) return 'changed';
    factor = toFactor(old.item);
  }
  throw new StoreError('conflict', 'the estimate factor of the key keeps changing');
};

const revokeKey = async (
  db: DynamoDB,
  tables: AccountTables,
  accountId: string,
  hash: string,
): Promise<'revoked' | 'changed'> => {
  const current = ifCurrent(hash);
  const cancelled = await db.transact([
    {
      update: {
        table: tables.accounts,
        key: currentKeyKey(accountId),
        update: 'SET revoked = :revoked',
        ...current,
        values: { ...current.values, ':revoked': true },
      },
    },
    revoke(tables, hash),
  ]);
  return cancelled ? 'changed' : 'revoked';
};

const markShown = async (db: DynamoDB, { accounts }: AccountTables, accountId: string, hash: string): Promise<void> => {
  const current = ifCurrent(hash);
  await db.update({
    table: accounts,
    key: currentKeyKey(accountId),
    update: 'SET shown = :shown',
    ...current,
    values: { ':shown': true, ...current.values },
  });
};

const ifFactor = (factor: StoredFactor | undefined): Condition =>
  factor
    ? {
        condition: 'estimateFactor = :factor AND estimateFactorAt = :at',
        values: { ':factor': factor.factor, ':at': factor.atMs },
      }
    : { condition: 'attribute_exists(pk) AND attribute_not_exists(estimateFactor)' };
