import type { Clock } from '../../../lambdas/core/clock.ts';
import { SKEW_MS_MAX } from '../../../lambdas/core/store-clock.ts';
import { type Database, textOf } from './database.ts';

/** How long a process may be silent before another one takes over its videos. */
const LEASE_MS = 15_000;

/**
 * Leases that decide which process runs the state machine of a video. Processes that share a database run each video
 * once.
 */
export interface VideoLeases {
  /** Returns false if another process runs the video. Safe to repeat. Throws StoreError. */
  take(videoId: string): Promise<boolean>;
  /** Extends the leases of this process. Throws StoreError. */
  renew(): Promise<void>;
  /** Ends the leases of this process, so that another one can take over immediately. Throws StoreError. */
  endAll(): Promise<void>;
  /** Videos in progress whose process has been silent for too long. Throws StoreError. */
  expired(): Promise<readonly string[]>;
}

/**
 * Lease that is over at `?1`. One that ends later than any lease from `?1` on was taken before the clock was set back.
 * Its process may run: it renews its leases within seconds, and a video that two processes run is charged once.
 */
const IS_OVER = `(leased_until <= ?1 OR leased_until > ?1 + ${LEASE_MS + SKEW_MS_MAX})`;

/** `runner` is unique to the process. Not durable: a power cut also ends the process. */
export const createVideoLeases = (db: Database, runner: string, clock: Pick<Clock, 'now'>): VideoLeases => {
  const extend = async (untilMs: number): Promise<void> => {
    const own = 'SELECT id FROM videos WHERE due_at IS NOT NULL AND runner = ?';
    if (!(await db.peek(() => db.sql(`${own} LIMIT 1`).get(runner)))) return;
    await db.write(() => db.sql(`UPDATE videos SET leased_until = ? WHERE id IN (${own})`).run(untilMs, runner));
  };
  return {
    take: async (videoId) => {
      const nowMs = clock.now();
      const changed = await db.write(() =>
        db
          .sql(
            `UPDATE videos SET runner = ?2, leased_until = ?1 + ${LEASE_MS}
             WHERE id = ?3 AND due_at IS NOT NULL AND (runner IS NULL OR runner = ?2 OR ${IS_OVER})`,
          )
          .run(nowMs, runner, videoId),
      );
      return changed === 1;
    },
    renew: () => extend(clock.now() + LEASE_MS),
    endAll: () => extend(0),
    expired: () =>
      db.peek(() =>
        db
          .sql(`SELECT id FROM videos WHERE due_at IS NOT NULL AND ${IS_OVER}`)
          .all(clock.now())
          .map((row) => textOf(row, 'id')),
      ),
  };
};
