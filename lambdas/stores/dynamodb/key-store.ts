import type { KeyRecord, KeyReplacement, KeyStore } from '../../core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../core/accounts/keys.ts';
import { currentKeyKey, toCurrentKey, toCurrentKeyItem } from './chat-item.ts';
import { type DynamoDB, putNew, type Write } from './dynamodb.ts';
import { type Item, readNumber, readText } from './item.ts';
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
});

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

/**
 * Replaces the API key in one transaction that also checks the account, so that a block of the account and the
 * replacement cannot overlap.
 */
const replaceKey = async (
  db: DynamoDB,
  tables: AccountTables,
  { accountId, oldHash, key, atMs }: KeyReplacement,
): Promise<'replaced' | 'changed' | 'blocked'> => {
  const cancelled = await db.transact([
    ifActive(tables, accountId),
    {
      put: {
        table: tables.accounts,
        item: toCurrentKeyItem(accountId, key, atMs),
        ...ifCurrent(oldHash),
      },
    },
    putNew(tables.keys, toKeyItem(accountId, key)),
    revoke(tables, oldHash),
  ]);
  if (!cancelled) return 'replaced';
  return cancelled[0]?.isConditionFailed ? 'blocked' : 'changed';
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

const revoke = ({ keys }: AccountTables, hash: string): Write => ({
  update: {
    table: keys,
    key: { pk: hash },
    update: 'SET #status = :revoked',
    condition: 'attribute_exists(pk)',
    names: { '#status': 'status' },
    values: { ':revoked': 'revoked' },
  },
});
