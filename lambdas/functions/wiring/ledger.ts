import type { Clock } from '../../core/clock.ts';
import type { LedgerDependencies } from '../../core/ledger/ledger.ts';
import { type MoneyMeter, type MoneyMetric, moneyMetric, movements } from '../../core/metrics.ts';
import { readSettings } from '../../settings.ts';
import { createLedgerStore } from '../../stores/dynamodb/ledger-store.ts';
import { createOutbox } from '../../stores/s3/outbox.ts';
import { createClients, createDatabases, createS3Access } from './clients.ts';
import type { LedgerFunctionDependencies } from './dependencies.ts';
import { createReporting } from './reporting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export const systemClock: Clock = {
  now: Date.now,
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** With its database and object storage, for other stores that use them. */
export type OpenLedger = LedgerFunctionDependencies & {
  readonly db: ReturnType<typeof createDatabases>;
  readonly s3: ReturnType<typeof createS3Access>;
};

export const openLedger = (environment: Environment): OpenLedger => {
  const settings = readSettings(environment);
  const clients = createClients({ endpoint: settings.DYNAMODB_ENDPOINT, region: environment.AWS_REGION });
  const db = createDatabases(clients);
  const s3 = createS3Access({ endpoint: settings.S3_ENDPOINT, region: environment.AWS_REGION });
  return {
    settings,
    db,
    clock: systemClock,
    random: Math.random,
    ledgerStore: createLedgerStore(db, settings.ACCOUNTS_TABLE),
    outbox: createOutbox(s3, settings.MEDIA_BUCKET),
    s3,
    reporting: createReporting(settings),
  };
};

/** Needs no secret: a function that only sweeps is not given any. */
export const ledgerDependenciesFromEnvironment = (environment: Environment): LedgerFunctionDependencies =>
  openLedger(environment);

/** No hold is shorter than its grace, whatever the deadline of its request. */
export const toLedgerDependencies = ({
  ledgerStore,
  outbox,
  clock,
  random,
  settings,
  reporting,
}: LedgerFunctionDependencies): LedgerDependencies => ({
  store: ledgerStore,
  outbox,
  clock,
  random,
  shortestLifetimeMs: settings.HOLD_GRACE_SECONDS * 1_000,
  meter: (picos) => reporting.measured(toMoneyMetrics(picos)),
});

const toMoneyMetrics = (picos: Parameters<MoneyMeter>[0]): Readonly<Partial<Record<MoneyMetric, number>>> =>
  Object.fromEntries(
    movements.flatMap((movement) => {
      const moved = picos[movement];
      return moved === undefined ? [] : [[moneyMetric(movement), toMicroUsd(moved)]];
    }),
  );

/** For trends: what the ledger works with is never made a number. */
const toMicroUsd = (picos: bigint): number => Number(picos) / 1_000_000;
