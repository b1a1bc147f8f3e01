import { afterAll, beforeAll, test } from 'vitest';
import { changeCap } from '../../lambdas/core/ledger/caps.ts';
import { readAccount } from '../../local/stores/sqlite/account-rows.ts';
import { toCreditRecord } from '../../local/stores/sqlite/credits.ts';
import { type Database, textOf } from '../../local/stores/sqlite/database.ts';
import { createLedgerStore, toRecord } from '../../local/stores/sqlite/ledger-store.ts';
import { replaceCaps } from '../../local/stores/sqlite/replace-account.ts';
import { toClosing } from '../../local/stores/sqlite/statement-records.ts';
import type { InspectedLedger } from '../lambdas/core/ledger/history.ts';
import { playHistories, timeoutOf } from '../lambdas/core/ledger/play-histories.ts';
import { randomRuns } from '../support/random-runs.ts';
import { openTestDatabase } from '../support/sqlite.ts';

const runs = randomRuns(import.meta.filename, { quick: 100, long: 3_000 });

let db: Database;
beforeAll(async () => {
  // Skips syncs, because thousands of histories would take too long on a disk. A history checks the ledger after every
  // write, so each has its own transaction.
  db = await openTestDatabase({ sync: async () => undefined, soon: (run) => run() });
});
afterAll(() => db.close());

/** Removes the data of the previous history. */
const emptyLedger = (): InspectedLedger => {
  const tables = ['accounts', 'holds', 'charges', 'credits', 'low_balances', 'month_closings', 'month_charges'];
  for (const table of tables) db.sql(`DELETE FROM ${table}`).run();
  return {
    ...createLedgerStore(db),
    setCap: (accountId, keyId, change, nowMs) =>
      db.write(() => {
        const account = readAccount(db, accountId);
        if (account) replaceCaps(db, changeCap(account, keyId, change, nowMs));
      }),
    accounts: () =>
      db
        .sql('SELECT id FROM accounts')
        .all()
        .flatMap((row) => readAccount(db, textOf(row, 'id')) ?? []),
    recordsOf: (accountId) => db.sql('SELECT * FROM charges WHERE account_id = ?').all(accountId).map(toRecord),
    creditRecordsOf: (accountId) =>
      db.sql('SELECT * FROM credits WHERE account_id = ?').all(accountId).map(toCreditRecord),
    closingsOf: (accountId) =>
      db.sql('SELECT * FROM month_closings WHERE account_id = ? ORDER BY month').all(accountId).map(toClosing),
  };
};

test(
  'BILL-13 in every history of failures in SQLite each request is charged at most once',
  () => playHistories(runs, emptyLedger),
  timeoutOf(runs),
);
