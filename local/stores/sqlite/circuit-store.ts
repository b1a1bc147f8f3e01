import * as z from 'zod';
import type { CircuitId, Opening } from '../../../lambdas/core/circuit/circuit.ts';
import {
  type BucketCount,
  type CircuitState,
  type CircuitStore,
  type MissingCount,
  sumOfMissing,
} from '../../../lambdas/core/circuit/circuit-store.ts';
import { type Database, numberOf, optionalTextOf, type Row } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';

const OWNED = 'provider_id = ? AND model_id = ? AND probe_owner = ?';

/** Circuits in SQLite. Nothing is durable: a power cut may close the circuits again, as at a first start. */
export const createCircuitStore = (db: Database): CircuitStore => {
  /** Whether the statement changed the state. Its last three parameters are the circuit and the owner of the probe. */
  const asOwner = ({ providerId, modelId }: CircuitId, owner: string, sql: string, ...values: number[]) =>
    db.write(() => db.sql(sql).run(...values, providerId, modelId, owner) === 1);
  return {
    read: (key, bucketStartsMs, nowMs) =>
      db.peek(() => ({
        state: { known: true, value: readState(db, key, nowMs) },
        buckets: bucketStartsMs.map((startMs) => readBucket(db, key, startMs)),
        quarantinedUntilMs: { known: true, value: shutUntil(db, key.modelId) },
      })),
    count: (key, added, expiresAtMs) => db.write(() => count(db, key, added, expiresAtMs)),
    open: (key, opening, nowMs, expiresAtMs) =>
      db.write(() => {
        if (readState(db, key, nowMs)) return false;
        open(db, key, opening, expiresAtMs);
        return true;
      }),
    lease: (key, probe, nowMs) => db.write(() => lease(db, key, probe, nowMs)),
    renew: (key, owner, leaseUntilMs) =>
      asOwner(key, owner, `UPDATE circuits SET probe_lease_until = ? WHERE ${OWNED}`, leaseUntilMs),
    releaseProbe: (key, owner) =>
      asOwner(key, owner, `UPDATE circuits SET probe_owner = NULL, probe_lease_until = NULL WHERE ${OWNED}`),
    judge: (key, owner, { openUntilMs, openings, goodProbes }, expiresAtMs) => {
      const sql = `UPDATE circuits SET open_until = ?, openings = ?, good_probes = ?, expires_at = ?,
        probe_owner = NULL, probe_lease_until = NULL WHERE ${OWNED}`;
      return asOwner(key, owner, sql, openUntilMs, openings, goodProbes, expiresAtMs);
    },
    close: (key, owner) => asOwner(key, owner, `DELETE FROM circuits WHERE ${OWNED}`),
    countMissing: (modelId, account, bucketStartMs, expiresAtMs) =>
      db.write(() => countMissing(db, modelId, account, bucketStartMs, expiresAtMs)),
    readMissing: (modelId, bucketStartsMs) =>
      db.peek(() => sumOfMissing(bucketStartsMs.map((startMs) => missingOf(db, modelId, startMs)))),
    quarantine: (modelId, untilMs, nowMs) =>
      db.write(() => {
        if (shutUntil(db, modelId) > nowMs) return false;
        db.sql('INSERT OR REPLACE INTO quarantines (model_id, shut_until) VALUES (?, ?)').run(modelId, untilMs);
        return true;
      }),
  };
};

const readState = (db: Database, { providerId, modelId }: CircuitId, nowMs: number): CircuitState | undefined => {
  const row = db
    .sql('SELECT * FROM circuits WHERE provider_id = ? AND model_id = ? AND expires_at > ?')
    .get(providerId, modelId, nowMs);
  return row && toState(row);
};

const toState = (row: Row): CircuitState => {
  const owner = optionalTextOf(row, 'probe_owner');
  return {
    openUntilMs: numberOf(row, 'open_until'),
    openings: numberOf(row, 'openings'),
    goodProbes: numberOf(row, 'good_probes'),
    probe: owner === undefined ? undefined : { owner, leaseUntilMs: numberOf(row, 'probe_lease_until') },
  };
};

const open = (db: Database, { providerId, modelId }: CircuitId, opening: Opening, expiresAtMs: number): void => {
  const { openUntilMs, openings, goodProbes } = opening;
  db.sql(
    `INSERT OR REPLACE INTO circuits (provider_id, model_id, open_until, openings, good_probes, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(providerId, modelId, openUntilMs, openings, goodProbes, expiresAtMs);
};

const lease = (
  db: Database,
  key: CircuitId,
  probe: { readonly owner: string; readonly leaseUntilMs: number },
  nowMs: number,
): { leased: CircuitState } | { refused: CircuitState | undefined } => {
  const state = readState(db, key, nowMs);
  const isFree = state && state.openUntilMs <= nowMs && (!state.probe || state.probe.leaseUntilMs <= nowMs);
  if (!isFree) return { refused: state };
  db.sql('UPDATE circuits SET probe_owner = ?, probe_lease_until = ? WHERE provider_id = ? AND model_id = ?').run(
    probe.owner,
    probe.leaseUntilMs,
    key.providerId,
    key.modelId,
  );
  return { leased: { ...state, probe } };
};

const accountsSchema = z.array(z.string());

/** A bucket without a row has had no calls. */
const readBucket = (db: Database, { providerId, modelId }: CircuitId, startMs: number): BucketCount => {
  const row = db
    .sql('SELECT * FROM circuit_counts WHERE provider_id = ? AND model_id = ? AND start = ?')
    .get(providerId, modelId, startMs);
  return row
    ? {
        startMs,
        failures: numberOf(row, 'failures'),
        successes: numberOf(row, 'successes'),
        accounts: jsonOf(row, 'accounts', accountsSchema),
      }
    : { startMs, failures: 0, successes: 0, accounts: [] };
};

const count = (db: Database, key: CircuitId, added: BucketCount, expiresAtMs: number): void => {
  const before = readBucket(db, key, added.startMs);
  db.sql(
    `INSERT OR REPLACE INTO circuit_counts (provider_id, model_id, start, failures, successes, accounts, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    key.providerId,
    key.modelId,
    added.startMs,
    before.failures + added.failures,
    before.successes + added.successes,
    toJson([...new Set([...before.accounts, ...added.accounts])]),
    expiresAtMs,
  );
};

const missingOf = (db: Database, modelId: string, startMs: number): MissingCount => {
  const row = db
    .sql('SELECT count, accounts FROM missing_usage_counts WHERE model_id = ? AND start = ?')
    .get(modelId, startMs);
  if (!row) return { count: 0, accounts: [] };
  const accounts = row.accounts === null ? [] : jsonOf(row, 'accounts', accountsSchema);
  return { count: numberOf(row, 'count'), accounts };
};

const countMissing = (
  db: Database,
  modelId: string,
  account: string,
  startMs: number,
  expiresAtMs: number,
): MissingCount => {
  const counted = sumOfMissing([missingOf(db, modelId, startMs), { count: 1, accounts: [account] }]);
  db.sql(
    'INSERT OR REPLACE INTO missing_usage_counts (model_id, start, count, accounts, expires_at) VALUES (?, ?, ?, ?, ?)',
  ).run(modelId, startMs, counted.count, toJson(counted.accounts), expiresAtMs);
  return counted;
};

/** Unix milliseconds, 0 if the model has no quarantine. */
const shutUntil = (db: Database, modelId: string): number => {
  const row = db.sql('SELECT shut_until FROM quarantines WHERE model_id = ?').get(modelId);
  return row ? numberOf(row, 'shut_until') : 0;
};
