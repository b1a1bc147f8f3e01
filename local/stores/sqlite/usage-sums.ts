import * as z from 'zod';
import type { LedgerRecords } from '../../../lambdas/core/ledger/records.ts';
import type { UsageCell, UsageSums } from '../../../lambdas/core/ledger/usage-sums.ts';
import { type Database, optionalTextOf, type Row, textOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';

/** Stores one row per account and period, with the sums of its cells as JSON. */
export const createUsageSums = (db: Database): Pick<LedgerRecords, 'usageSums' | 'keepUsageSums'> => ({
  usageSums: (accountId, fromPeriod, toPeriod) =>
    db.read(() =>
      db
        .sql('SELECT * FROM usage_sums WHERE account_id = ? AND period BETWEEN ? AND ? ORDER BY period')
        .all(accountId, fromPeriod, toPeriod)
        .map(toSums),
    ),
  keepUsageSums: async (accountId, { period, cells, fromId = null }, seenId = undefined) => {
    await db.write(() =>
      // Each read of a part moves the place, so the place identifies the part. Complete sums have none.
      db
        .sql(
          `INSERT INTO usage_sums (account_id, period, cells, from_id) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET cells = excluded.cells, from_id = excluded.from_id
          WHERE usage_sums.from_id = ?`,
        )
        .run(accountId, period, toJson(cells), fromId, seenId ?? null),
    );
  },
});

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
    ...(fromId === undefined ? {} : { fromId }),
  };
};
