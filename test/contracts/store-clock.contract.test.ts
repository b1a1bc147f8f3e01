import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../lambdas/core/clock.ts';
import { placeHold } from '../../lambdas/core/ledger/hold.ts';
import type { LedgerDependencies, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { createStoreClock, skewProblemOf } from '../../lambdas/core/store-clock.ts';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createSweepHandler } from '../../lambdas/functions/wiring/sweep-handler.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { createMaintenanceStore } from '../../lambdas/stores/dynamodb/maintenance-store.ts';
import { createMaintenanceStore as createSqliteMaintenance } from '../../local/stores/sqlite/facts.ts';
import { Heartbeats } from '../../local/stores/sqlite/heartbeats.ts';
import { createLedgerStore as createSqliteStore } from '../../local/stores/sqlite/ledger-store.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { noTables } from '../support/memory/memory-stores.ts';
import { newDatabasePath, openTestDatabase } from '../support/sqlite.ts';

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 300_000;

interface StoreProcess {
  readonly ledger: LedgerDependencies;
  readonly notices: string[];
  sweep(): Promise<void>;
}

type Parts = Pick<Parameters<typeof createSweepHandler>[0], 'maintenance' | 'clock' | 'clockProblem'>;

const toProcess = (store: LedgerStore, parts: Parts): StoreProcess => {
  const notices: string[] = [];
  const outbox = new MemoryOutbox();
  const sweep = createSweepHandler({
    ...parts,
    ledgerStore: store,
    outbox,
    settings: readSettings(noTables),
    random: () => 0,
    reporting: { finished: () => undefined, notice: (name) => notices.push(name), measured: () => undefined },
  });
  const ledger = { store, outbox, clock: parts.clock, random: () => 0, shortestLifetimeMs: LIFETIME_MS };
  return { ledger, notices, sweep };
};

const after: Clock['after'] = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
const monotonicMs = () => performance.now();
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** Opens processes that share one store. The clock of each differs from the time by some ms. */
const dynamodb = async () => {
  const { endpoint, names } = await openTestTables();
  return async (skewMs: number): Promise<StoreProcess> => {
    const clock = createStoreClock({ own: { now: () => Date.now() + skewMs, after }, monotonicMs });
    const clients = createClients({ endpoint, region: 'us-east-1' }, clock);
    endings.push(
      () => clients.once.destroy(),
      () => clients.repeating.destroy(),
    );
    const db = createDatabases(clients);
    return toProcess(createLedgerStore(db, names.accounts), {
      maintenance: createMaintenanceStore(db.repeating, names.counters),
      clock,
      clockProblem: () => skewProblemOf(clock.skewMs()),
    });
  };
};

const sqlite = async () => {
  const path = newDatabasePath();
  return async (skewMs: number): Promise<StoreProcess> => {
    const db = await openTestDatabase({ path });
    const own = { now: () => Date.now() + skewMs, after };
    const clock = createStoreClock({ own, monotonicMs });
    const heartbeats = new Heartbeats(db, { own, monotonicMs, clock });
    await heartbeats.beat();
    return toProcess(createSqliteStore(db), {
      maintenance: createSqliteMaintenance(db),
      clock,
      clockProblem: () => heartbeats.problem(),
    });
  };
};

const subjects = [{ name: 'in SQLite', open: sqlite }, ...onDatabase({ name: 'on the database', open: dynamodb })];

describe.each(subjects)('processes with different clocks $name', ({ open }) => {
  test.each([HOUR_MS, -HOUR_MS])('BILL-13 one that is %d ms off ends no hold of another', async (skewMs) => {
    const start = await open();
    const right = await start(0);
    const wrong = await start(skewMs);
    const accountId = 'account';
    await right.ledger.store.createAccount(accountId, Date.now());
    await right.ledger.store.credit({ accountId, ref: 'first', amountPicos: 10n, reason: 'test', at: Date.now() });
    const lifetimes = [LIFETIME_MS, LIFETIME_MS, -1];
    for (const [index, { ledger }] of [right, wrong, right].entries()) {
      await ledger.store.readAccount(accountId);
      const expiresAtMs = ledger.clock.now() + (lifetimes[index] ?? 0);
      await placeHold(ledger, { accountId, requestId: `r${index}`, amountPicos: 1n, expiresAtMs });
    }
    await right.ledger.store.sweepBy(accountId, 1);
    // Only the process whose clock counts sweeps, if two share a file.
    await wrong.sweep();
    await right.sweep();
    await wrong.sweep();
    const account = await right.ledger.store.readAccount(accountId);
    const [sooner, later] = [...(account?.holds.keys() ?? [])].filter((holdId) => holdId !== 'r2.0').sort();
    expect([sooner, later]).toEqual(['r0.0', 'r1.0']);
    expect([...right.notices, ...wrong.notices]).toContain('clock_skewed');
  });
});

describe.each(onDatabase({ open: dynamodb }))('a process on the database', ({ open }) => {
  test.each([HOUR_MS, -HOUR_MS])('BILL-13 stores times of the table, although it is %d ms off', async (skewMs) => {
    const start = await open();
    const [right, wrong] = [await start(0), await start(skewMs)];
    const accountId = 'account';
    await right.ledger.store.createAccount(accountId, Date.now());
    await right.ledger.store.credit({ accountId, ref: 'first', amountPicos: 10n, reason: 'test', at: Date.now() });
    await wrong.ledger.store.readAccount(accountId);
    const expiresAtMs = wrong.ledger.clock.now() - 5_000;
    await placeHold(wrong.ledger, { accountId, requestId: 'r', amountPicos: 1n, expiresAtMs });
    await right.ledger.store.sweepBy(accountId, 1);
    await wrong.sweep();
    expect([wrong.notices, (await right.ledger.store.readAccount(accountId))?.holds.size]).toEqual([
      ['clock_skewed'],
      1,
    ]);
    await right.sweep();
    expect([right.notices, (await right.ledger.store.readAccount(accountId))?.holds.size]).toEqual([
      ['holds_swept'],
      0,
    ]);
  });
});
