import { randomInt } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { HoldBreaker } from '../../core/ledger/hold-breaker.ts';
import type { LedgerDependencies } from '../../core/ledger/ledger.ts';
import { ServedHolds } from '../../core/ledger/served-holds.ts';
import { type MoneyMeter, type MoneyMetric, moneyMetric, movements } from '../../core/metrics.ts';
import type { MarginMeter } from '../../core/paid-call/dependencies.ts';
import { LOOK_EVERY_MS, ProcessPauses } from '../../core/process-pauses.ts';
import { RANDOM_END, renderRequestId } from '../../core/request-id.ts';
import { createStoreClock, type StoreClock, skewProblemOf } from '../../core/store-clock.ts';
import { readSettings } from '../../settings.ts';
import { createLedgerStore } from '../../stores/dynamodb/ledger-store.ts';
import { createMaintenanceStore } from '../../stores/dynamodb/maintenance-store.ts';
import { createOutbox } from '../../stores/s3/outbox.ts';
import { createClients, createDatabases, createS3Access } from './clients.ts';
import type { LedgerFunctionDependencies, Reporting } from './dependencies.ts';
import { createReporting } from './reporting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export const systemClock: Clock = {
  now: Date.now,
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Returns a function that returns an id for a request of now. */
export const createRequestIds =
  ({ now }: Pick<Clock, 'now'>) =>
  (): string =>
    renderRequestId({ atMs: now(), random: randomInt(RANDOM_END) });

/** Returns an id by the clock of the machine, where no store corrects it. */
export const newRequestId = createRequestIds(systemClock);

/** The clock of the machine, until a store corrects it. Reports when it gets too far from the store's. */
export const openStoreClock = ({ notice }: Reporting): StoreClock =>
  createStoreClock({
    own: systemClock,
    monotonicMs: () => performance.now(),
    onProblem: (problem) => notice('clock_skewed', { problem }),
  });

let processPauses: ProcessPauses | undefined;

/** Pauses of this process. The first call starts its timer, which keeps no process alive. */
export const watchPauses = (): ProcessPauses => {
  if (processPauses) return processPauses;
  const pauses = new ProcessPauses({ now: Date.now, monotonicMs: () => performance.now() });
  setInterval(() => pauses.look(), LOOK_EVERY_MS).unref();
  processPauses = pauses;
  return pauses;
};

/** Ledger dependencies with their database and object storage, which other stores share. */
export type OpenLedger = LedgerFunctionDependencies & {
  readonly db: ReturnType<typeof createDatabases>;
  readonly s3: ReturnType<typeof createS3Access>;
};

export const openLedger = (environment: Environment): OpenLedger => {
  const settings = readSettings(environment);
  const reporting = createReporting(settings);
  const clock = openStoreClock(reporting);
  const clients = createClients({ endpoint: settings.DYNAMODB_ENDPOINT, region: environment.AWS_REGION }, clock);
  const db = createDatabases(clients);
  const s3 = createS3Access({ endpoint: settings.S3_ENDPOINT, region: environment.AWS_REGION });
  return {
    settings,
    db,
    clock,
    clockProblem: () => skewProblemOf(clock.skewMs()),
    random: Math.random,
    ledgerStore: createLedgerStore(db, settings.ACCOUNTS_TABLE, settings.HOLD_FORMAT),
    outbox: createOutbox(s3, settings.MEDIA_BUCKET),
    servedHolds: new ServedHolds(() => performance.now()),
    maintenance: createMaintenanceStore(db.repeating, settings.COUNTERS_TABLE),
    s3,
    reporting,
  };
};

/** Reads no secret, because functions that only sweep have none. */
export const ledgerDependenciesFromEnvironment = (environment: Environment): LedgerFunctionDependencies =>
  openLedger(environment);

/**
 * Converts the dependencies of a function to those of the ledger. HOLD_GRACE_SECONDS is also the minimum lifetime of
 * every hold, even if the deadline of its request is earlier.
 */
export const toLedgerDependencies = ({
  ledgerStore,
  outbox,
  clock,
  random,
  settings,
  reporting,
  servedHolds,
}: LedgerFunctionDependencies): LedgerDependencies => ({
  store: ledgerStore,
  outbox,
  clock,
  random,
  shortestLifetimeMs: settings.HOLD_GRACE_SECONDS * 1_000,
  meter: (picos) => reporting.measured(toMoneyMetrics(picos)),
  onProbation: (accountId, requestId) => reporting.notice('account_on_probation', { accountId, requestId }),
  breaker: new HoldBreaker(clock),
  served: servedHolds,
});

const toMoneyMetrics = (picos: Parameters<MoneyMeter>[0]): Readonly<Partial<Record<MoneyMetric, number>>> => {
  const metrics: Partial<Record<MoneyMetric, number>> = {};
  for (const movement of movements) {
    const moved = picos[movement];
    if (moved !== undefined) metrics[moneyMetric(movement)] = toMicroUsd(moved);
  }
  return metrics;
};

/** Counts the margin of a model. */
export const toMarginMeter =
  ({ measured }: Reporting): MarginMeter =>
  (model, picos) =>
    measured({ margin_micro_usd: toMicroUsd(picos) }, { model });

/** Converts an amount for metrics. The ledger itself never computes with floating-point numbers. */
const toMicroUsd = (picos: bigint): number => Number(picos) / 1_000_000;
