import type {
  CurrentKey,
  KeyRecord,
  KeyReplacement,
  KeyReply,
  KeyStore,
} from '../../../lambdas/core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../../lambdas/core/accounts/keys.ts';
import {
  type AddressCounters,
  type Bucket,
  type BucketAttempt,
  take,
  takeAtReply,
} from '../../../lambdas/core/limits/rate-limit.ts';
import { factorAt, type StoredFactor } from '../../../lambdas/core/pricing/estimate-factor.ts';
import { booleanOf, type Database, numberOf, type Row, textOf } from './database.ts';

/**
 * API keys in SQLite. Only the rates and the estimate factors are not durable: after a power cut the buckets can be
 * fuller than before.
 */
export const createKeyStore = (db: Database): KeyStore => ({
  take: (hash, bucket, now) => takeAtReply(bucket, now, () => db.write(() => takeFromKey(db, hash, bucket, now()))),
  read: (hash) => db.peek(() => readKey(db, hash)),
  currentKey: (accountId) => db.read(() => readCurrentKey(db, accountId)),
  putFirstKey: (accountId, key, atMs) => db.writeDurably(() => putFirstKey(db, accountId, key, atMs)),
  replaceKey: (replacement) => db.writeDurably(() => replaceKey(db, replacement)),
  revokeKey: (accountId, hash) => db.writeDurably(() => revokeKey(db, accountId, hash)),
  markShown: async (accountId, hash) => {
    await db.writeDurably(() =>
      db.sql('UPDATE current_keys SET shown = 1 WHERE account_id = ? AND hash = ?').run(accountId, hash),
    );
  },
  raiseFactor: (hash, raised) => db.write(() => raiseFactor(db, hash, raised)),
});

const takeFromKey = (db: Database, hash: string, bucket: Bucket, nowMicros: number): BucketAttempt<KeyReply> => {
  const key = readKey(db, hash);
  if (!key) return { result: { kind: 'unknown' } };
  const { allowed, tatMicros } = take(bucket, key.tatMicros, nowMicros);
  if (key.status !== 'active') return { result: { kind: 'refused', key } };
  if (!allowed) return { result: { kind: 'refused', key }, refusedByMicros: tatMicros };
  db.sql('UPDATE keys SET tat = ? WHERE hash = ?').run(tatMicros, hash);
  return { result: { kind: 'taken', key: { ...key, tatMicros } } };
};

const readKey = (db: Database, hash: string): KeyRecord | undefined => {
  const row = db
    .sql('SELECT account_id, status, blocked, tat, estimate_factor, estimate_factor_at FROM keys WHERE hash = ?')
    .get(hash);
  return row && toKey(hash, row);
};

const toKey = (hash: string, row: Row): KeyRecord => ({
  keyId: keyIdOf(hash),
  accountId: textOf(row, 'account_id'),
  status: textOf(row, 'status') === 'active' ? 'active' : 'revoked',
  blocked: booleanOf(row, 'blocked'),
  tatMicros: numberOf(row, 'tat'),
  ...(row.estimate_factor === null
    ? {}
    : { factor: { factor: numberOf(row, 'estimate_factor') / 10, atMs: numberOf(row, 'estimate_factor_at') } }),
});

const setFactor = (db: Database, hash: string, { factor, atMs }: StoredFactor): void => {
  db.sql('UPDATE keys SET estimate_factor = ?, estimate_factor_at = ? WHERE hash = ?').run(
    Math.round(factor * 10),
    atMs,
    hash,
  );
};

const raiseFactor = (db: Database, hash: string, raised: StoredFactor): KeyRecord | undefined => {
  const key = readKey(db, hash);
  if (!key || factorAt(key.factor, raised.atMs) >= raised.factor) return key;
  setFactor(db, hash, raised);
  return { ...key, factor: raised };
};

export const hasKey = (db: Database, hash: string): boolean =>
  db.sql('SELECT 1 FROM keys WHERE hash = ?').get(hash) !== undefined;

/** Throws a StoreError if the key exists. */
const insertKey = (db: Database, accountId: string, { hash, label, pepperId }: NewKey): void => {
  db.sql(
    "INSERT INTO keys (hash, account_id, status, prefix, last_four, pepper_id) VALUES (?, ?, 'active', ?, ?, ?)",
  ).run(hash, accountId, label.prefix, label.lastFour, pepperId);
};

export const readCurrentKey = (db: Database, accountId: string): CurrentKey | undefined => {
  const row = db.sql('SELECT * FROM current_keys WHERE account_id = ?').get(accountId);
  return row && toCurrentKey(row);
};

const toCurrentKey = (row: Row): CurrentKey => ({
  hash: textOf(row, 'hash'),
  label: { prefix: textOf(row, 'prefix'), lastFour: textOf(row, 'last_four') },
  issuedAtMs: numberOf(row, 'issued_at'),
  isShown: booleanOf(row, 'shown'),
  isRevoked: booleanOf(row, 'revoked'),
});

const isActive = (db: Database, accountId: string): boolean =>
  db.sql("SELECT 1 FROM accounts WHERE id = ? AND status = 'active'").get(accountId) !== undefined;

/** Puts a new key and makes it the account's current one. */
export const putKey = (db: Database, accountId: string, key: NewKey, atMs: number): void => {
  insertKey(db, accountId, key);
  db.sql(
    `INSERT OR REPLACE INTO current_keys (account_id, hash, prefix, last_four, issued_at, shown)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(accountId, key.hash, key.label.prefix, key.label.lastFour, atMs, Number(key.isShown));
};

const putFirstKey = (db: Database, accountId: string, key: NewKey, atMs: number): 'put' | 'has-key' | 'no-account' => {
  if (!isActive(db, accountId)) return 'no-account';
  if (readCurrentKey(db, accountId) || hasKey(db, key.hash)) return 'has-key';
  putKey(db, accountId, key, atMs);
  return 'put';
};

const replaceKey = (
  db: Database,
  { accountId, oldHash, key, atMs }: KeyReplacement,
): 'replaced' | 'changed' | 'blocked' => {
  if (!isActive(db, accountId)) return 'blocked';
  if (readCurrentKey(db, accountId)?.hash !== oldHash || hasKey(db, key.hash)) return 'changed';
  const factor = readKey(db, oldHash)?.factor;
  revoke(db, oldHash);
  putKey(db, accountId, key, atMs);
  if (factor) setFactor(db, key.hash, factor);
  return 'replaced';
};

const revoke = (db: Database, hash: string): void => {
  db.sql("UPDATE keys SET status = 'revoked' WHERE hash = ?").run(hash);
};

const revokeKey = (db: Database, accountId: string, hash: string): 'revoked' | 'changed' => {
  const changed = db.sql('UPDATE current_keys SET revoked = 1 WHERE account_id = ? AND hash = ?').run(accountId, hash);
  if (changed === 0) return 'changed';
  revoke(db, hash);
  return 'revoked';
};

const BUCKET_KEPT_MS = 300_000;

/** The client IPs' shared rates. Not durable. */
export const createAddressCounters = (db: Database): AddressCounters => ({
  take: (address, bucket, now) =>
    takeAtReply(bucket, now, () => db.write(() => takeFromAddress(db, address, bucket, now()))),
});

const takeFromAddress = (db: Database, address: string, bucket: Bucket, nowMicros: number): BucketAttempt<boolean> => {
  const row = db.sql('SELECT tat FROM address_buckets WHERE address = ?').get(address);
  const { allowed, tatMicros } = take(bucket, row ? numberOf(row, 'tat') : 0, nowMicros);
  if (!allowed) return { result: false, refusedByMicros: tatMicros };
  db.sql('INSERT OR REPLACE INTO address_buckets (address, tat, expires_at) VALUES (?, ?, ?)').run(
    address,
    tatMicros,
    Math.ceil(nowMicros / 1_000) + BUCKET_KEPT_MS,
  );
  return { result: true };
};
