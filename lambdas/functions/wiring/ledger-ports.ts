import type { LedgerPorts } from '../../core/ledger/ledger-ports.ts';
import type { LedgerParts } from './parts.ts';

/** No hold is shorter than its grace, whatever the deadline of its request. */
export const toLedgerPorts = ({ ledgerStore, outbox, clock, random, settings }: LedgerParts): LedgerPorts => ({
  store: ledgerStore,
  outbox,
  clock,
  random,
  shortestLifetimeMs: settings.HOLD_GRACE_SECONDS * 1_000,
});
