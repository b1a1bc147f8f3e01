import { isJsonObject, parseJson } from '../../../lambdas/core/json.ts';
import type { ModelCharges, MonthCharges, MonthClosing } from '../../../lambdas/core/ledger/month.ts';
import type { LedgerRecords } from '../../../lambdas/core/ledger/records.ts';
import { toCreditRecord } from './credits.ts';
import { bigintOf, type Database, numberOf, type Row, textOf } from './database.ts';

type StatementRecords = Pick<
  LedgerRecords,
  'creditsOfMonth' | 'closings' | 'firstClosing' | 'readCharges' | 'keepCharges'
>;

export const createStatementRecords = (db: Database): StatementRecords => ({
  creditsOfMonth: (accountId, month) =>
    db.read(() =>
      db
        .sql('SELECT * FROM credits WHERE account_id = ? AND month = ? ORDER BY ref')
        .all(accountId, month)
        .map((row) => toCreditRecord({ ...row, returned: null, reversed_by: null })),
    ),
  closings: (accountId, throughMonth, limit = -1) =>
    db.read(() =>
      db
        .sql('SELECT * FROM month_closings WHERE account_id = ? AND month <= ? ORDER BY month DESC LIMIT ?')
        .all(accountId, throughMonth, limit)
        .map(toClosing),
    ),
  firstClosing: (accountId) =>
    db.read(() => {
      const row = db.sql('SELECT * FROM month_closings WHERE account_id = ? ORDER BY month LIMIT 1').get(accountId);
      return row && toClosing(row);
    }),
  readCharges: (accountId, month) => db.read(() => readCharges(db, accountId, month)),
  keepCharges: (accountId, month, charges, seenHoldId) =>
    db.writeDurably(() => {
      const { models, beforeHoldId = null } = charges;
      // Each read of a part moves the place, so the place identifies the part. Complete charges have none.
      db.sql(
        `INSERT INTO month_charges (account_id, month, charges, before_hold_id) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET charges = excluded.charges, before_hold_id = excluded.before_hold_id
        WHERE month_charges.before_hold_id = ?`,
      ).run(accountId, month, toChargesJson(models), beforeHoldId, seenHoldId ?? null);
      return readCharges(db, accountId, month) ?? charges;
    }),
});

export const toClosing = (row: Row): MonthClosing => ({
  month: textOf(row, 'month'),
  creditedPicos: bigintOf(row, 'credited'),
  returnedPicos: BigInt(textOf(row, 'returned')),
  spentPicos: bigintOf(row, 'spent'),
  heldPicos: bigintOf(row, 'held'),
  ...(row.start === null ? {} : { startMs: numberOf(row, 'start') }),
});

const readCharges = (db: Database, accountId: string, month: string): MonthCharges | undefined => {
  const row = db.sql('SELECT * FROM month_charges WHERE account_id = ? AND month = ?').get(accountId, month);
  if (!row) return undefined;
  const models = toModels(textOf(row, 'charges'));
  return row.before_hold_id === null ? { models } : { models, beforeHoldId: textOf(row, 'before_hold_id') };
};

const toChargesJson = (models: readonly ModelCharges[]): string =>
  JSON.stringify(
    models.map(({ model, requests, amountPicos }) => ({ model, requests, amount: amountPicos.toString() })),
  );

const toModels = (json: string): readonly ModelCharges[] => {
  const values = parseJson(json);
  if (!Array.isArray(values)) throw new Error('the charges of a month are not a JSON array');
  return values.filter(isJsonObject).map(({ model, requests, amount }) => ({
    model: typeof model === 'string' ? model : undefined,
    requests: Number(requests),
    amountPicos: BigInt(String(amount)),
  }));
};
