import { isJsonObject, parseJson } from '../../../lambdas/core/json.ts';
import type { ModelCharges, MonthClosing } from '../../../lambdas/core/ledger/month.ts';
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
  keepCharges: (accountId, month, charges) =>
    db.writeDurably(() => {
      db.sql('INSERT INTO month_charges (account_id, month, charges) VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(
        accountId,
        month,
        toChargesJson(charges),
      );
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

const readCharges = (db: Database, accountId: string, month: string): readonly ModelCharges[] | undefined => {
  const row = db.sql('SELECT charges FROM month_charges WHERE account_id = ? AND month = ?').get(accountId, month);
  return row && toCharges(textOf(row, 'charges'));
};

const toChargesJson = (charges: readonly ModelCharges[]): string =>
  JSON.stringify(
    charges.map(({ model, requests, amountPicos }) => ({ model, requests, amount: amountPicos.toString() })),
  );

const toCharges = (json: string): readonly ModelCharges[] => {
  const values = parseJson(json);
  if (!Array.isArray(values)) throw new Error('the charges of a month are not a JSON array');
  return values.filter(isJsonObject).map(({ model, requests, amount }) => ({
    model: typeof model === 'string' ? model : undefined,
    requests: Number(requests),
    amountPicos: BigInt(String(amount)),
  }));
};
