import { type TurnKey, UPDATE_LEASE_MS, type UpdateLog } from '../../core/accounts/chats.ts';
import { SKEW_MS_MAX } from '../../core/store-clock.ts';
import type { DynamoDB } from './dynamodb.ts';
import type { Item } from './item.ts';

/** The messenger redelivers an update for a day and does not reuse its number within a week. */
const KEPT_SECONDS = 7 * 86_400;

const keyOf = (key: TurnKey): Item => ({ pk: key });

const expiresAt = (nowMs: number): number => Math.floor(nowMs / 1_000) + KEPT_SECONDS;

/** Stores one item per update and per chat that is starting, in the counters table, where it expires. */
export const createUpdateLog = (db: DynamoDB, table: string): UpdateLog => ({
  claim: async (key, nowMs) => {
    const reply = await db.update({
      table,
      key: keyOf(key),
      update: 'SET leaseUntil = :until, expiresAt = :expiresAt',
      // A lease that ends later than one from now on was taken by a clock that was ahead.
      condition: 'attribute_not_exists(pk) OR leaseUntil < :now OR leaseUntil > :latest',
      values: {
        ':until': nowMs + UPDATE_LEASE_MS,
        ':latest': nowMs + UPDATE_LEASE_MS + SKEW_MS_MAX,
        ':expiresAt': expiresAt(nowMs),
        ':now': nowMs,
      },
      onFailure: 'ALL_OLD',
    });
    if ('written' in reply) return 'claimed';
    return reply.conditionFailed?.done === true ? 'done' : 'busy';
  },
  finish: async (key, nowMs) => {
    await db.update({
      table,
      key: keyOf(key),
      // An item without a lease cannot be claimed again.
      update: 'SET done = :done, expiresAt = :expiresAt REMOVE leaseUntil',
      values: { ':done': true, ':expiresAt': expiresAt(nowMs) },
    });
  },
  free: async (key) => {
    await db.delete({
      table,
      key: keyOf(key),
      // A late call must not undo a finished update.
      condition: 'attribute_not_exists(done)',
    });
  },
});
