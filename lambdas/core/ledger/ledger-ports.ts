import type { Clock } from '../clock.ts';
import type { LedgerStore } from './ledger-store.ts';

export interface LedgerPorts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** No hold lives shorter than this. Bounds how soon an account with open holds is looked at. */
  readonly shortestLifetimeMs: number;
}
