import type { NewKey } from '../../../lambdas/core/accounts/account-store.ts';
import type { KeyRecord, KeyReply, KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import type { AddressCounters } from '../../../lambdas/core/limits/rate-limit.ts';
import { type Bucket, take } from '../../../lambdas/core/limits/rate-limit.ts';
import { booleanOf, type Database, numberOf, type Row, textOf } from './database.ts';

/** API keys in SQLite. Rates are not durable: after a power cut the buckets are fuller than they were. */
export const createKeyStore = (db: Database): KeyStore => ({
  take: (hash, bucket, nowMicros) => db.write(() => takeFromKey(db, hash, bucket, nowMicros)),
  read: (hash) => db.peek(() => readKey(db, hash)),
});

const takeFromKey = (db: Database, hash: string, bucket: Bucket, nowMicros: number): KeyReply => {
  const key = readKey(db, hash);
  if (!key) return { kind: 'unknown' };
  const { allowed, tatMicros } = take(bucket, key.tatMicros, nowMicros);
  if (key.status !== 'active' || !allowed) return { kind: 'refused', key };
  db.sql('UPDATE keys SET tat = ? WHERE hash = ?').run(tatMicros, hash);
  return { kind: 'taken', key: { ...key, tatMicros } };
};

const readKey = (db: Database, hash: string): KeyRecord | undefined => {
  const row = db.sql('SELECT account_id, status, blocked, tat FROM keys WHERE hash = ?').get(hash);
  return row && toKey(row);
};

const toKey = (row: Row): KeyRecord => ({
  accountId: textOf(row, 'account_id'),
  status: textOf(row, 'status') === 'active' ? 'active' : 'revoked',
  blocked: booleanOf(row, 'blocked'),
  tatMicros: numberOf(row, 'tat'),
});

export const hasKey = (db: Database, hash: string): boolean =>
  db.sql('SELECT 1 FROM keys WHERE hash = ?').get(hash) !== undefined;

/** Throws a StoreError if the key exists. */
export const insertKey = (db: Database, accountId: string, { hash, label, pepperId }: NewKey): void => {
  db.sql(
    "INSERT INTO keys (hash, account_id, status, prefix, last_four, pepper_id) VALUES (?, ?, 'active', ?, ?, ?)",
  ).run(hash, accountId, label.prefix, label.lastFour, pepperId);
};

const BUCKET_KEPT_MS = 300_000;

/** The client IPs' shared rates. Not durable. */
export const createAddressCounters = (db: Database): AddressCounters => ({
  take: (address, bucket, nowMicros) => db.write(() => takeFromAddress(db, address, bucket, nowMicros)),
});

const takeFromAddress = (db: Database, address: string, bucket: Bucket, nowMicros: number): boolean => {
  const row = db.sql('SELECT tat FROM address_buckets WHERE address = ?').get(address);
  const { allowed, tatMicros } = take(bucket, row ? numberOf(row, 'tat') : 0, nowMicros);
  if (!allowed) return false;
  db.sql('INSERT OR REPLACE INTO address_buckets (address, tat, expires_at) VALUES (?, ?, ?)').run(
    address,
    tatMicros,
    Math.ceil(nowMicros / 1_000) + BUCKET_KEPT_MS,
  );
  return true;
};
