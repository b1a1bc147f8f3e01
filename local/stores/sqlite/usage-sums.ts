import * as z from 'zod';
import type { LedgerRecords } from '../../../lambdas/core/ledger/records.ts';
import type { UsageCell, UsageSums } from '../../../lambdas/core/ledger/usage-sums.ts';
import { NEXT_CHANGE, readAccount } from './account-rows.ts';
import { type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';
import { toRecord } from './ledger-store.ts';

type UsageSumsRecords = Pick<LedgerRecords, 'usageSums' | 'countTo' | 'lateCharges' | 'keepUsageSums'>;

/** Stores one row per account and period, with the sums of its cells as JSON, and one per late charge. */
export const createUsageSums = (db: Database): UsageSumsRecords => ({
  usageSums: (accountId, fromPeriod, toPeriod) =>
    db.read(() =>
      db
        .sql('SELECT * FROM usage_sums WHERE account_id = ? AND period BETWEEN ? AND ? ORDER BY period')
        .all(accountId, fromPeriod, toPeriod)
        .map(toSums),
    ),
  countTo: (accountId, id) =>
    db.write(() => {
      db.sql(
        `UPDATE accounts SET counted_to_id = ?, version = version + 1, change = ${NEXT_CHANGE}
         WHERE id = ? AND (counted_to_id IS NULL OR counted_to_id < ?)`,
      ).run(id, accountId, id);
      return readAccount(db, accountId);
    }),
  lateCharges: (accountId, limit) =>
    db.read(() =>
      db
        .sql(
          `SELECT charges.* FROM late_charges JOIN charges USING (account_id, hold_id)
           WHERE account_id = ? ORDER BY hold_id LIMIT ?`,
        )
        .all(accountId, limit)
        .map(toRecord),
    ),
  keepUsageSums: (accountId, sums, lateHoldIds = []) =>
    db.write(() => {
      if (!sums.every((one) => isNext(db, accountId, one))) return false;
      if (!lateHoldIds.every((holdId) => isWaiting(db, accountId, holdId))) return false;
      for (const { period, cells, fromId = null, revision } of sums) {
        db.sql(
          'INSERT OR REPLACE INTO usage_sums (account_id, period, cells, from_id, revision) VALUES (?, ?, ?, ?, ?)',
        ).run(accountId, period, toJson(cells), fromId, revision);
      }
      for (const holdId of lateHoldIds)
        db.sql('DELETE FROM late_charges WHERE account_id = ? AND hold_id = ?').run(accountId, holdId);
      return true;
    }),
});

const isNext = (db: Database, accountId: string, { period, revision }: UsageSums): boolean => {
  const row = db.sql('SELECT revision FROM usage_sums WHERE account_id = ? AND period = ?').get(accountId, period);
  return revision === (row ? numberOf(row, 'revision') : 0) + 1;
};

const isWaiting = (db: Database, accountId: string, holdId: string): boolean =>
  db.sql('SELECT 1 FROM late_charges WHERE account_id = ? AND hold_id = ?').get(accountId, holdId) !== undefined;

const cellsSchema: z.ZodType<readonly UsageCell[]> = z.array(
  z.object({
    model: z.string().exactOptional(),
    keyId: z.string().exactOptional(),
    endUser: z.string().exactOptional(),
    isOther: z.literal(true).exactOptional(),
    requests: z.number(),
    amountPicos: z.string().regex(/^\d+$/).transform(BigInt),
    inputTokens: z.number(),
    outputTokens: z.number(),
  }),
);

const toSums = (row: Row): UsageSums => {
  const fromId = optionalTextOf(row, 'from_id');
  return {
    period: textOf(row, 'period'),
    cells: jsonOf(row, 'cells', cellsSchema),
    revision: numberOf(row, 'revision'),
    ...(fromId === undefined ? {} : { fromId }),
  };
};
