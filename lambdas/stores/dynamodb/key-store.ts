import type { KeyRecord, KeyReplacement, KeyStore } from '../../core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../core/accounts/keys.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import { factorAt, type StoredFactor } from '../../core/pricing/estimate-factor.ts';
import { currentKeyKey, toCurrentKey, toCurrentKeyItem } from './chat-item.ts';
import { type DynamoDB, putNew, type Write } from './dynamodb.ts';
import { type Item, readFraction, readNumber, readText } from './item.ts';
import { accountKey } from './ledger-items.ts';
import { type BucketDatabase, takeFromBucket } from './rate-bucket.ts';

export interface AccountTables {
  readonly accounts: string;
  readonly keys: string;
}

/** Number of times that `take` sends an update again after a lost reply. */
const TAKE_REPEATS = 1;

/** `take` uses the client that sends each call once, so that a repeated update has a fresh time. */
export const createKeyStore = (
  { once, repeating: db }: { readonly once: BucketDatabase; readonly repeating: DynamoDB },
  tables: AccountTables,
): KeyStore => ({
  take: async (hash, bucket, now) => {
    const reply = await takeFromBucket(once, {
      table: tables.keys,
      key: { pk: hash },
      bucket,
      now,
      repeats: TAKE_REPEATS,
      createsItem: false,
      condition: '#status = :active',
      conditionNames: { '#status': 'status' },
      values: { ':active': 'active' },
    });
    if ('taken' in reply) return { kind: 'taken', key: toKey(hash, reply.taken) };
    return reply.refused ? { kind: 'refused', key: toKey(hash, reply.refused) } : { kind: 'unknown' };
  },
  read: async (hash) => {
    const item = await db.get(tables.keys, { pk: hash });
    return item && toKey(hash, item);
  },
  currentKey: async (accountId) => {
    const item = await db.get(tables.accounts, currentKeyKey(accountId));
    return item && toCurrentKey(item);
  },
  putFirstKey: (accountId, key, atMs) => putFirstKey(db, tables, { accountId, key, atMs }),
  replaceKey: (replacement) => replaceKey(db, tables, replacement),
  revokeKey: (accountId, hash) => revokeKey(db, tables, accountId, hash),
  markShown: (accountId, hash) => markShown(db, tables, accountId, hash),
  raiseFactor: (hash, raised) => raiseFactor(once, tables, hash, raised),
});

/**
 * Item of a new API key. One transaction writes it and the account's item that names the current key. It never replaces
 * an existing key item.
 */
export const toKeyItem = (accountId: string, { hash, label, pepperId }: NewKey): Item => ({
  pk: hash,
  accountId,
  status: 'active',
  prefix: label.prefix,
  lastFour: label.lastFour,
  pepperId,
  tat: 0,
});

const toKey = (hash: string, item: Item): KeyRecord => ({
  keyId: keyIdOf(hash),
  accountId: readText(item, 'accountId'),
  status: readText(item, 'status') === 'active' ? 'active' : 'revoked',
  blocked: item.blocked === true,
  tatMicros: item.tat === undefined ? 0 : readNumber(item, 'tat'),
  factor: toFactor(item),
});

const toFactor = (item: Item): StoredFactor | undefined =>
  item.estimateFactor === undefined
    ? undefined
    : { factor: readFraction(item, 'estimateFactor'), atMs: readNumber(item, 'estimateFactorAt') };

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

const ifActive = ({ accounts }: AccountTables, accountId: string): Write => ({
  check: {
    table: accounts,
    key: accountKey(accountId),
    condition: '#status = :active',
    names: { '#status': 'status' },
    values: { ':active': 'active' },
  },
});

export const ifCurrent = (hash: string) => ({
  condition: '#hash = :hash',
  names: { '#hash': 'hash' },
  values: { ':hash': hash },
});

const toFactorAttributes = (factor: StoredFactor | undefined): Item =>
  factor ? { estimateFactor: factor.factor, estimateFactorAt: factor.atMs } : {};

interface Condition {
  readonly condition: string;
  readonly values?: Item;
}

const ifFactor = (factor: StoredFactor | undefined): Condition =>
  factor
    ? {
        condition: 'estimateFactor = :factor AND estimateFactorAt = :at',
        values: { ':factor': factor.factor, ':at': factor.atMs },
      }
    : { condition: 'attribute_exists(pk) AND attribute_not_exists(estimateFactor)' };

const revoke = (
  { keys }: AccountTables,
  hash: string,
  { condition, values }: Condition = { condition: 'attribute_exists(pk)' },
): Write => ({
  update: {
    table: keys,
    key: { pk: hash },
    update: 'SET #status = :revoked',
    condition,
    names: { '#status': 'status' },
    values: { ':revoked': 'revoked', ...values },
    onFailure: 'ALL_OLD',
  },
});
