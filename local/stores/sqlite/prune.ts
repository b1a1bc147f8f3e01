import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from './database.ts';

/** SQLite deletes in the event loop, so one transaction stays short. */
const BATCH = 1_000;

/** Table whose rows expire. In the condition `isExpired`, `?1` is the time to compare with, in Unix milliseconds. */
interface Expiring {
  readonly table: string;
  readonly primaryKey: string;
  readonly isExpired: string;
  /** How long a row is kept after it has expired. */
  readonly keptMs?: number;
}

const expiring: readonly Expiring[] = [
  { table: 'address_buckets', primaryKey: 'address', isExpired: 'expires_at <= ?1' },
  { table: 'bot_updates', primaryKey: 'key', isExpired: 'expires_at <= ?1' },
  { table: 'circuits', primaryKey: 'provider_id, model_id', isExpired: 'expires_at <= ?1' },
  { table: 'circuit_counts', primaryKey: 'provider_id, model_id, start', isExpired: 'expires_at <= ?1' },
  { table: 'quarantines', primaryKey: 'model_id', isExpired: 'shut_until <= ?1' },
  { table: 'missing_usage_counts', primaryKey: 'model_id, start', isExpired: 'expires_at <= ?1' },
  {
    table: 'claims',
    primaryKey: 'account_id, key_hash',
    isExpired: 'expires_at <= ?1 AND lease_until <= ?1',
    // A process whose clock is behind may still replay the response of an expired claim.
    keptMs: 3_600_000,
  },
];

/**
 * Removes expired rows, in short transactions with a turn of the event loop between them. Accounts, charges, credits,
 * operations and videos do not expire. Throws StoreError; a later call continues.
 */
export const prune = async (db: Database, nowMs: number): Promise<void> => {
  for (const rows of expiring) while ((await removeSome(db, rows, nowMs)) === BATCH) await nextTurn();
};

/** Returns the number of rows removed. Does not lock the database if nothing has expired. */
const removeSome = async (
  db: Database,
  { table, primaryKey, isExpired, keptMs = 0 }: Expiring,
  nowMs: number,
): Promise<number> => {
  const expired = `FROM ${table} WHERE ${isExpired} LIMIT`;
  const isAny = await db.peek(() => db.sql(`SELECT 1 ${expired} 1`).get(nowMs - keptMs));
  if (!isAny) return 0;
  return db.write(() =>
    db
      .sql(`DELETE FROM ${table} WHERE (${primaryKey}) IN (SELECT ${primaryKey} ${expired} ${BATCH})`)
      .run(nowMs - keptMs),
  );
};
