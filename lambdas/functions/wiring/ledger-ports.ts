import type { LedgerPorts } from '../../core/ledger/ledger.ts';
import { type MoneyMeter, type MoneyMetric, moneyMetric, movements } from '../../core/metrics.ts';
import type { LedgerParts } from './parts.ts';

/** No hold is shorter than its grace, whatever the deadline of its request. */
export const toLedgerPorts = ({
  ledgerStore,
  outbox,
  clock,
  random,
  settings,
  reporting,
}: LedgerParts): LedgerPorts => ({
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
