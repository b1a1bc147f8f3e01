import { keyBucketOf } from '../../../lambdas/core/accounts/key-ring.ts';
import type { KeyRecord, KeyReplacement, KeyReply, KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import type { NewKey } from '../../../lambdas/core/accounts/keys.ts';
import {
  type AddressCounters,
  type Bucket,
  type BucketAttempt,
  take,
  takeAtReply,
} from '../../../lambdas/core/limits/rate-limit.ts';
import { factorAt, type StoredFactor } from '../../../lambdas/core/pricing/estimate-factor.ts';
import { type Database, numberOf } from './database.ts';
import { changeKeyRing, readKeyRing } from './key-ring.ts';
import { hasKey, isActive, putKey, readCurrentKey, readKey, revoke, setAllowance, setFactor } from './key-rows.ts';

/**
 * API keys in SQLite. Only the rates and the estimate factors are not durable: after a power cut the buckets can be
 * fuller than before.
 */
export const createKeyStore = (db: Database): KeyStore => ({
  take: (hash, bucket, now) => takeAtReply(bucket, now, () => db.write(() => takeFromKey(db, hash, bucket, now()))),
  read: (hash) => db.peek(() => readKey(db, hash)),
  readMany: (hashes) => db.peek(() => readMany(db, hashes)),
  ring: (accountId) => db.read(() => readKeyRing(db, accountId)),
  changeRing: (change) => db.writeDurably(() => changeKeyRing(db, change)),
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
  setAllowance: (hash, allowance) => db.write(() => setAllowance(db, hash, allowance)),
});

const takeFromKey = (db: Database, hash: string, bucket: Bucket, nowMicros: number): BucketAttempt<KeyReply> => {
  const key = readKey(db, hash);
  if (!key) return { result: { kind: 'unknown' } };
  if (key.status !== 'active') return { result: { kind: 'refused', key } };
  const own = keyBucketOf(bucket, key);
  const { allowed, tatMicros } = take(own, key.tatMicros, nowMicros);
  const after = { ...key, tatMicros };
  if (tatMicros !== key.tatMicros) db.sql('UPDATE keys SET tat = ? WHERE hash = ?').run(tatMicros, hash);
  return allowed
    ? { result: { kind: 'taken', key: after } }
    : { result: { kind: 'refused', key: after }, refusedByMicros: tatMicros, bucket: own };
};

const readMany = (db: Database, hashes: readonly string[]): ReadonlyMap<string, KeyRecord> =>
  new Map(
    hashes.flatMap((hash) => {
      const key = readKey(db, hash);
      return key ? [[hash, key] as const] : [];
    }),
  );

const raiseFactor = (db: Database, hash: string, raised: StoredFactor): KeyRecord | undefined => {
  const key = readKey(db, hash);
  if (!key || factorAt(key.factor, raised.atMs) >= raised.factor) return key;
  setFactor(db, hash, raised);
  return { ...key, factor: raised };
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
  const before = row ? numberOf(row, 'tat') : 0;
  const { allowed, tatMicros } = take(bucket, before, nowMicros);
  if (tatMicros !== before) {
    db.sql('INSERT OR REPLACE INTO address_buckets (address, tat, expires_at) VALUES (?, ?, ?)').run(
      address,
      tatMicros,
      Math.ceil(nowMicros / 1_000) + BUCKET_KEPT_MS,
    );
  }
  return { result: allowed, refusedByMicros: allowed ? undefined : tatMicros };
};
