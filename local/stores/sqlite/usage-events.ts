import type { WrittenCharge } from '../../../lambdas/core/ledger/records.ts';
import { bigintOf, type Database, type Row, textOf } from './database.ts';
import { setFact } from './facts.ts';
import { toRecord } from './ledger-store.ts';

/*
 * Queue of charge records whose usage event is not delivered yet (OPS-20). A trigger fills it in the transaction that
 * writes the record. So no charge is missing, also of a process that does not deliver, and no request makes a further
 * store call. Releases without this table write its rows too, because the trigger is in the database. A number is never
 * used again: a slow delivery must not remove the row of a newer charge.
 */
const TRIGGER = 'usage_events_of_charges';
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS usage_events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     hold_id TEXT NOT NULL,
     -- A process is delivering it until then.
     leased_until INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TRIGGER IF NOT EXISTS ${TRIGGER} AFTER INSERT ON charges BEGIN
     INSERT INTO usage_events (account_id, hold_id) VALUES (new.account_id, new.hold_id);
   END`,
] as const;

/** Longer than one delivery takes. */
const LEASE_MS = 60_000;
/** Charge records of one delivery. */
export const BATCH_MAX = 100;

/** Delivers charge records in one call. Returns those that must be delivered again. */
export type ChargeDelivery = (charges: readonly WrittenCharge[]) => Promise<ReadonlySet<WrittenCharge>>;

/** Time for which new charges are queued without a process that delivers them, in ms. */
const KEPT_MS = 86_400_000;
/** Fact: time until which new charges are queued, in Unix ms. */
const QUEUED_UNTIL = 'usage_events_queued_until';

/**
 * From now on, each new charge record waits in the queue until it is delivered. A process that delivers repeats this
 * every hour, else `endUnusedQueue` ends the queue a day later.
 */
export const queueCharges = (db: Database, nowMs: number): Promise<void> =>
  db.writeDurably(() => {
    for (const statement of SCHEMA) db.sql(statement).run();
    setFact(db, QUEUED_UNTIL, String(nowMs + KEPT_MS));
  });

export interface QueueDelivery {
  readonly now: () => number;
  readonly deliver: ChargeDelivery;
  /** Largest number of charge records in this delivery. */
  readonly limit?: number;
}

/**
 * Stops queueing new charges if no process has delivered for a day. Charges that wait stay. Returns whether it changed
 * something. Throws StoreError.
 */
export const endUnusedQueue = async (db: Database, nowMs: number): Promise<boolean> => {
  const isUnused = (): boolean =>
    db
      .sql(
        `SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?
           AND NOT EXISTS (SELECT 1 FROM facts WHERE name = ? AND CAST(value AS INTEGER) > ?)`,
      )
      .get(TRIGGER, QUEUED_UNTIL, nowMs) !== undefined;
  if (!(await db.peek(isUnused))) return false;
  return db.writeDurably(() => {
    if (!isUnused()) return false;
    db.sql(`DROP TRIGGER ${TRIGGER}`).run();
    return true;
  });
};

/**
 * Delivers the charge records that have waited longest. Removes those that were delivered. A record that fails alone
 * waits for a minute if others are due, so that it cannot delay them all. Returns `idle` if none waits, `failed` if some
 * must be delivered again. Throws StoreError.
 */
export const deliverCharges = async (
  db: Database,
  { now, deliver, limit = BATCH_MAX }: QueueDelivery,
): Promise<'delivered' | 'failed' | 'idle'> => {
  const leased = await lease(db, now(), limit);
  if (leased.length === 0) return 'idle';
  // Resolves when the disk has the records: a power cut must not undo a charge that was delivered.
  const charges = await db.read(() => leased.map((row) => readCharge(db, row)));
  const failed = await deliver(charges.map(({ charge }) => charge));
  await db.write(() => {
    for (const { seq, charge } of charges) {
      if (failed.has(charge)) {
        const dueMs = leased.length === 1 && isDue(db, now()) ? now() + LEASE_MS : 0;
        db.sql('UPDATE usage_events SET leased_until = ? WHERE seq = ?').run(dueMs, seq);
      } else db.sql('DELETE FROM usage_events WHERE seq = ?').run(seq);
    }
  });
  return failed.size > 0 ? 'failed' : 'delivered';
};

/** A lease that ends later than any lease from now on was taken before the clock was set back. */
const DUE = 'SELECT seq FROM usage_events WHERE leased_until <= ? OR leased_until > ? ORDER BY seq LIMIT ?';

const isDue = (db: Database, nowMs: number): boolean => db.sql(DUE).get(nowMs, nowMs + LEASE_MS, 1) !== undefined;

/** Looks before it writes: most of the time nothing waits. */
const lease = async (db: Database, nowMs: number, limit: number): Promise<readonly Row[]> => {
  if (!(await db.peek(() => isDue(db, nowMs)))) return [];
  return db.write(() =>
    db
      .sql(`UPDATE usage_events SET leased_until = ? WHERE seq IN (${DUE}) RETURNING seq, account_id, hold_id`)
      .all(nowMs + LEASE_MS, nowMs, nowMs + LEASE_MS, limit)
      .toSorted((one, other) => (bigintOf(one, 'seq') < bigintOf(other, 'seq') ? -1 : 1)),
  );
};

const readCharge = (db: Database, row: Row): { readonly seq: bigint; readonly charge: WrittenCharge } => {
  const [accountId, holdId] = [textOf(row, 'account_id'), textOf(row, 'hold_id')];
  const found = db.sql('SELECT * FROM charges WHERE account_id = ? AND hold_id = ?').get(accountId, holdId);
  return { seq: bigintOf(row, 'seq'), charge: { accountId, holdId, record: found && orUnreadable(found) } };
};

const orUnreadable = (row: Row): WrittenCharge['record'] => {
  try {
    return toRecord(row);
  } catch {
    return undefined;
  }
};
