import type {
  AccountPlace,
  LedgerRecords,
  Operation,
  OperationLog,
  RecordPage,
  RecordRange,
} from '../../../lambdas/core/ledger/records.ts';
import { toCreditRecord } from './credits.ts';
import { type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { toRecord } from './ledger-store.ts';
import { createStatementRecords } from './statement-records.ts';
import { createUsageSums } from './usage-sums.ts';

/** Sorts after every hold id. */
const LAST = '\u{10ffff}';

export const createLedgerRecords = (db: Database): LedgerRecords => ({
  listRecords: (accountId, range) => db.read(() => listRecords(db, accountId, range)),
  recordsOfRequest: (accountId, requestId) =>
    db.read(() =>
      db
        .sql('SELECT * FROM charges WHERE account_id = ? AND hold_id > ? AND hold_id < ? ORDER BY hold_id')
        // Selects all hold ids that start with `<requestId>.`, because "/" is the next character after ".".
        .all(accountId, `${requestId}.`, `${requestId}/`)
        .map(toNamed),
    ),
  readCredits: (accountId) =>
    db.read(() => db.sql('SELECT * FROM credits WHERE account_id = ? ORDER BY ref').all(accountId).map(toCreditRecord)),
  accountPlaces: (after) => accountPlaces(db, after),
  ...createStatementRecords(db),
  ...createUsageSums(db),
});

const listRecords = (
  db: Database,
  accountId: string,
  { fromHoldId = '', beforeHoldId = LAST, limit, isOldestFirst }: RecordRange,
): RecordPage => {
  const order = isOldestFirst ? 'ASC' : 'DESC';
  const rows = db
    .sql(
      `SELECT * FROM charges WHERE account_id = ? AND hold_id >= ? AND hold_id < ? ORDER BY hold_id ${order} LIMIT ?`,
    )
    .all(accountId, fromHoldId, beforeHoldId, limit + 1);
  return { records: rows.slice(0, limit).map(toNamed), more: rows.length > limit };
};

/** Names the record that cannot be read. */
const toNamed = (row: Row) => {
  try {
    return toRecord(row);
  } catch (cause) {
    throw new Error(`CHARGE#${textOf(row, 'hold_id')}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

const PAGE = 500;

/** A place is an account id. */
async function* accountPlaces(db: Database, after = ''): AsyncGenerator<AccountPlace, void> {
  let from = after;
  for (;;) {
    const rows = await db.read(() =>
      db.sql('SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?').all(from, PAGE),
    );
    for (const row of rows) {
      from = textOf(row, 'id');
      yield { accountId: from, place: from };
    }
    if (rows.length < PAGE) return;
  }
}

export const createOperationLog = (db: Database): OperationLog => ({
  add: async ({ accountId, id, command, reason, ref, at }) => {
    await db.writeDurably(() =>
      db
        .sql(
          'INSERT INTO operations (account_id, id, command, reason, ref, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        )
        .run(accountId, id, command, reason, ref ?? null, at),
    );
  },
  list: (accountId) =>
    db.read(() => db.sql('SELECT * FROM operations WHERE account_id = ? ORDER BY id').all(accountId).map(toOperation)),
});

const toOperation = (row: Row): Operation => {
  const ref = optionalTextOf(row, 'ref');
  return {
    accountId: textOf(row, 'account_id'),
    id: textOf(row, 'id'),
    command: textOf(row, 'command'),
    reason: textOf(row, 'reason'),
    ...(ref === undefined ? {} : { ref }),
    at: numberOf(row, 'at'),
  };
};
