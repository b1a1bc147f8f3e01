import type { LedgerFunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryMaintenanceStore } from '../../../support/memory/memory-maintenance-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

export const EXPIRY_MS = 60_000;
const hold = { amountPicos: 1_000_000n, expiresAtMs: EXPIRY_MS, sweepAtMs: EXPIRY_MS, previousHoldId: undefined };

/** Three accounts with one hold each, and the output of the scheduled functions. */
export const createTendingScene = async () => {
  const clock = new ManualClock(0);
  const ledgerStore = new MemoryLedgerStore();
  const outbox = new MemoryOutbox();
  const maintenance = new MemoryMaintenanceStore();
  const notices: unknown[] = [];
  const measured: object[] = [];
  for (const accountId of ['one', 'two', 'three']) {
    await ledgerStore.createAccount(accountId, 0);
    await ledgerStore.credit({ accountId, ref: 'first', amountPicos: 5_000_000n, reason: 'test', at: 0 });
    await ledgerStore.hold({ ...hold, accountId, holdId: `${accountId}.0` });
  }
  const deps: LedgerFunctionDependencies = {
    settings: readSettings(noTables),
    clock,
    random: () => 0,
    ledgerStore,
    outbox,
    maintenance,
    reporting: {
      finished: () => undefined,
      notice: (name, details) => notices.push([name, details]),
      measured: (values) => measured.push(values),
    },
  };
  const enqueueSettlement = (accountId: string, at: number): Promise<void> => {
    const ids = { accountId, requestId: accountId, holdId: `${accountId}.0` };
    const record = { ...ids, outcome: 'settled', amountPicos: 400_000n, at } as const;
    return outbox.put({ record, holdAmountPicos: hold.amountPicos });
  };
  /** Spent amount and number of open holds per account. */
  const accounts = () => ledgerStore.accounts().map(({ id, spentPicos, holds }) => [id, spentPicos, holds.size]);
  return { clock, deps, maintenance, notices, measured, enqueueSettlement, accounts };
};
