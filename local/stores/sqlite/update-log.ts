import { type TurnKey, UPDATE_LEASE_MS, type UpdateLog } from '../../../lambdas/core/accounts/chats.ts';
import { SKEW_MS_MAX } from '../../../lambdas/core/store-clock.ts';
import { type Database, numberOf } from './database.ts';

/** The messenger drops an update after a day and does not repeat its ids within a week. */
const RETENTION_MS = 7 * 86_400_000;

/**
 * Bot updates in SQLite. A finished update is durable. A lease is not: a power cut also ends the process that holds it.
 */
export const createUpdateLog = (db: Database): UpdateLog => ({
  claim: (key, nowMs) => db.write(() => claim(db, key, nowMs)),
  finish: async (key, nowMs) => {
    await db.writeDurably(() =>
      db
        .sql('INSERT OR REPLACE INTO bot_updates (key, lease_until, done, expires_at) VALUES (?, NULL, 1, ?)')
        .run(key, nowMs + RETENTION_MS),
    );
  },
  free: async (key) => {
    // A late call must not free an update that another process has finished.
    await db.write(() => db.sql('DELETE FROM bot_updates WHERE key = ? AND done = 0').run(key));
  },
});

const claim = (db: Database, key: TurnKey, nowMs: number): 'claimed' | 'busy' | 'done' => {
  const row = db.sql('SELECT lease_until FROM bot_updates WHERE key = ?').get(key);
  if (row?.lease_until === null) return 'done';
  const leaseUntilMs = row ? numberOf(row, 'lease_until') : 0;
  // A lease that ends later than one from now on was taken by a clock that was ahead.
  if (leaseUntilMs >= nowMs && leaseUntilMs <= nowMs + UPDATE_LEASE_MS + SKEW_MS_MAX) return 'busy';
  db.sql('INSERT OR REPLACE INTO bot_updates (key, lease_until, done, expires_at) VALUES (?, ?, 0, ?)').run(
    key,
    nowMs + UPDATE_LEASE_MS,
    nowMs + RETENTION_MS,
  );
  return 'claimed';
};
