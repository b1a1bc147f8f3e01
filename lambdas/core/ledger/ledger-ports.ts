import type { Clock } from '../clock.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { MoneyMeter } from './money-meter.ts';
import type { Outbox } from './outbox.ts';

export interface LedgerPorts {
  readonly store: LedgerStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** From 0 up to 1: spreads the repeats of many callers. */
  readonly random: () => number;
  /** No hold lives shorter than this. Bounds how soon an account with open holds is looked at. */
  readonly shortestLifetimeMs: number;
  /** Undefined where nobody counts. */
  readonly meter?: MoneyMeter;
}
