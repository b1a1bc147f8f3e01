import type { Account } from '../../../lambdas/core/ledger/ledger.ts';
import { closingsBefore, type MonthClosing } from '../../../lambdas/core/ledger/month.ts';
import { NEXT_CHANGE } from './account-rows.ts';
import { toCapsColumn } from './cap-columns.ts';
import type { Database } from './database.ts';

/**
 * Writes the sums of an account that was computed from `before`, and the closings of months that are over. Called in a
 * transaction.
 */
export const replaceAccount = (db: Database, before: Account, after: Account, nowMs: number): void => {
  db.sql(
    `UPDATE accounts SET available = ?, credited = ?, returned = ?, spent = ?, month = ?, uncollected_day = ?,
       uncollected = ?, uncollected_silent = ?, uncollected_silent_at = ?, uncollected_free = ?, uncollected_other_day = ?,
       uncollected_other = ?, probation_until = ?, caps = ?, version = ?, change = ${NEXT_CHANGE} WHERE id = ?`,
  ).run(
    after.availablePicos,
    after.creditedPicos,
    after.returnedPicos.toString(),
    after.spentPicos,
    after.month ?? null,
    after.uncollected?.day ?? null,
    after.uncollected?.picos ?? null,
    after.uncollected?.silentDeadlines ?? null,
    after.uncollected?.silentAtMs ?? null,
    after.uncollected?.freePicos ?? null,
    after.uncollected?.other?.day ?? null,
    after.uncollected?.other?.picos ?? null,
    after.probationUntilPicos?.toString() ?? null,
    toCapsColumn(after.caps),
    after.version,
    after.id,
  );
  for (const closing of closingsBefore(before, nowMs)) insertClosing(db, before.id, closing);
};

/** Writes the caps of an account that `changeCap` returned. Called in a transaction. */
export const replaceCaps = (db: Database, after: Account): void => {
  db.sql(`UPDATE accounts SET caps = ?, version = ?, change = ${NEXT_CHANGE} WHERE id = ?`).run(
    toCapsColumn(after.caps),
    after.version,
    after.id,
  );
};

const insertClosing = (db: Database, accountId: string, closing: MonthClosing): void => {
  db.sql(
    `INSERT INTO month_closings (account_id, month, credited, returned, spent, held, start)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    accountId,
    closing.month,
    closing.creditedPicos,
    closing.returnedPicos.toString(),
    closing.spentPicos,
    closing.heldPicos,
    closing.startMs ?? null,
  );
};
