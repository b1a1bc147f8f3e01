import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import { bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { createCircuitStore } from '../../../../local/stores/sqlite/circuit-store.ts';
import { createClaimStore } from '../../../../local/stores/sqlite/claim-store.ts';
import { type Database, textOf } from '../../../../local/stores/sqlite/database.ts';
import { createAuditCursor } from '../../../../local/stores/sqlite/facts.ts';
import { createAddressCounters, createKeyStore } from '../../../../local/stores/sqlite/key-store.ts';
import { createLedgerRecords, createOperationLog } from '../../../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { prune } from '../../../../local/stores/sqlite/prune.ts';
import { createUpdateLog } from '../../../../local/stores/sqlite/update-log.ts';
import { createVideoJobStore } from '../../../../local/stores/sqlite/video-job-store.ts';
import { createWebhookSecretStore } from '../../../../local/stores/sqlite/webhook-secret-store.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { orderOf } from '../../../contracts/video-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const NOW = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;
const YEARS = 10 * 365 * 24 * HOUR;

let db: Database;
beforeEach(async () => {
  db = await openTestDatabase();
});
afterEach(() => db.close());

const tableNames = () =>
  db.peek(() =>
    db
      .sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => textOf(row, 'name')),
  );

/** Number of rows by table. */
const counts = async (): Promise<Record<string, number>> => {
  const entries: [string, number][] = [];
  for (const name of await tableNames())
    entries.push([name, await db.peek(() => db.sql(`SELECT 1 FROM ${name}`).all().length)]);
  return Object.fromEntries(entries);
};

/** Writes at least one row to every table, as the stores write it at `NOW`. */
const fill = async (): Promise<void> => {
  const ledger = createLedgerStore(db);
  const accountId = 'one';
  await createAccountStore(db).open(accountNamed(accountId, { creditPicos: LOW_BALANCE_THRESHOLD_DEFAULT + 5n }));
  const keys = createKeyStore(db);
  const before = await keys.ring(accountId);
  await keys.changeRing({ accountId, before, after: before });
  const hold = { accountId, amountPicos: 5n, expiresAtMs: NOW, sweepAtMs: NOW, previousHoldId: undefined };
  for (const holdId of ['a', 'b']) await ledger.hold({ ...hold, holdId });
  const record = { accountId, holdId: 'a', requestId: 'a', outcome: 'settled', amountPicos: 5n, at: NOW } as const;
  await ledger.putRecord(record);
  await ledger.apply(record, 5n, 0);
  await ledger.closeMonths(accountId, NOW + YEARS);
  await createLedgerRecords(db).keepCharges(accountId, '2026-11', { models: [] });
  await createLedgerRecords(db).countTo(accountId, 'c');
  await ledger.hold({ ...hold, holdId: 'b2' });
  await ledger.putRecord({ ...record, holdId: 'b2' });
  await ledger.apply({ ...record, holdId: 'b2' }, 5n, NOW + YEARS);
  await createLedgerRecords(db).keepUsageSums(accountId, [{ period: '2026-11-26', cells: [], revision: 1 }]);
  await createOperationLog(db).add({ accountId, id: '1', command: 'credit', reason: 'test', at: NOW });
  await createAuditCursor(db).write('one');
  await createVideoJobStore(db).create(orderOf(), NOW);
  await createWebhookSecretStore(db).put(accountId, { version: 1, secret: 'whsec_1', createdAtMs: NOW });
  await createAddressCounters(db).take('192.0.2.1', bucketOf(10, 15), () => NOW * 1_000);
  await createUpdateLog(db).finish('update#1', NOW);
  const circuits = createCircuitStore(db);
  const circuit = { providerId: 'vendor', modelId: 'model' };
  await circuits.open(circuit, { openUntilMs: NOW, openings: 1, goodProbes: 0 }, NOW, NOW + HOUR);
  await circuits.count(circuit, { startMs: NOW, failures: 1, successes: 0, accounts: [] }, NOW + HOUR);
  await circuits.countMissing('model', 'account', NOW, NOW + HOUR);
  await circuits.quarantine('model', NOW + HOUR, NOW);
  await claim('key', NOW + HOUR, NOW + HOUR);
};

const claim = (keyHash: string, expiresAtMs: number, leaseUntilMs: number) =>
  createClaimStore(db).claim({
    ...{ accountId: 'one', keyHash, owner: 'first', fingerprint: 'print', dispatchesMax: 6 },
    nowMs: NOW,
    leaseUntilMs,
    expiresAtMs,
  });

test('a prune removes everything that has expired and nothing else', async () => {
  await fill();
  const before = await counts();
  expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
  await prune(db, NOW);
  expect(await counts()).toEqual(before);
  await prune(db, NOW + YEARS);
  const expired = [
    'address_buckets',
    'bot_updates',
    'circuits',
    'circuit_counts',
    'quarantines',
    'missing_usage_counts',
  ];
  const gone = [...expired, 'claims'].map((name) => [name, 0]);
  expect(await counts()).toEqual({ ...before, ...Object.fromEntries(gone) });
});

test('IDEM-2 a claim is kept for an hour after its expiry and the end of its lease', async () => {
  await claim('expired', NOW - HOUR, NOW - HOUR);
  await claim('recent', NOW - HOUR + 1, NOW - HOUR);
  await claim('leased', NOW - HOUR, NOW - HOUR + 1);
  await prune(db, NOW);
  const rows = await db.peek(() => db.sql('SELECT key_hash FROM claims ORDER BY key_hash').all());
  expect(rows.map((row) => textOf(row, 'key_hash'))).toEqual(['leased', 'recent']);
});

test('a prune removes at most 1,000 rows per transaction, with event loop turns in between', async () => {
  await db.write(() => {
    const insert = db.sql('INSERT INTO circuit_counts VALUES (?, ?, ?, 0, 0, ?, ?)');
    for (let row = 0; row < 2_500; row += 1) insert.run('vendor', 'model', row, '[]', NOW);
  });
  const write = vi.spyOn(db, 'write');
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  await prune(db, NOW);
  clearImmediate(immediate);
  expect(await Promise.all(write.mock.results.map(({ value }) => value))).toEqual([1_000, 1_000, 500]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('a prune with nothing expired writes nothing and searches large tables by an index', async () => {
  await fill();
  const [write, sql] = [vi.spyOn(db, 'write'), vi.spyOn(db, 'sql')];
  await prune(db, NOW);
  expect(write).not.toHaveBeenCalled();
  const queries = sql.mock.calls.map(([text]) => text);
  const plans = queries.map((query) => textOf(db.sql(`EXPLAIN QUERY PLAN ${query}`).get(NOW) ?? {}, 'detail'));
  // Circuits and quarantines have one row per model, so a scan of them is cheap.
  const scans = plans.filter((plan) => !plan.includes(' USING ')).map((plan) => plan.replace(/^SCAN /, ''));
  expect(scans.toSorted()).toEqual(['circuits', 'quarantines']);
  expect(queries).toHaveLength(7);
});
