import { StoreError } from '../errors/store-error.ts';
import type { Account } from './account.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { apply, commit } from './resolve.ts';

export interface SweepReport {
  readonly accounts: number;
  readonly released: number;
  /** Holds whose record was already there: the request had committed and died before the account was updated. */
  readonly finished: number;
  /** Accounts left for the next run because the store did not answer. */
  readonly failed: number;
}

/** BILL-13: ends every hold whose time is over. A record that is already there wins and is applied. */
export const sweep = async (ports: LedgerPorts): Promise<SweepReport> => {
  const report = { accounts: 0, released: 0, finished: 0, failed: 0 };
  for (const { accountId } of await ports.store.due(ports.clock.now())) {
    report.accounts += 1;
    try {
      const ended = await sweepAccount(ports, accountId);
      report.released += ended.released;
      report.finished += ended.finished;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      report.failed += 1;
    }
  }
  return report;
};

const sweepAccount = async (ports: LedgerPorts, accountId: string): Promise<{ released: number; finished: number }> => {
  const ended = { released: 0, finished: 0 };
  const account = await ports.store.readAccount(accountId);
  if (!account) return ended;
  const now = ports.clock.now();
  for (const [holdId, hold] of account.holds) {
    if (hold.expiresAtMs > now) continue;
    const record = await commit(ports, {
      accountId,
      holdId,
      requestId: holdId.slice(0, holdId.lastIndexOf('.')),
      outcome: 'released',
      amountPicos: 0n,
      at: now,
      reason: 'expired',
    });
    await apply(ports, record, hold.amountPicos);
    if (record.outcome === 'settled') ended.finished += 1;
    else ended.released += 1;
  }
  await scheduleNext(ports, await ports.store.readAccount(accountId));
  return ended;
};

/** The store takes an account off the list only if it has no open hold: one may have been placed since the read. */
const scheduleNext = async (ports: LedgerPorts, account: Account | undefined): Promise<void> => {
  if (!account) return;
  const soonestMs = ports.clock.now() + ports.shortestLifetimeMs;
  const expiries = [...account.holds.values()].map((hold) => hold.expiresAtMs);
  const next = expiries.length === 0 ? undefined : Math.min(soonestMs, ...expiries);
  await ports.store.reschedule(account.id, next);
};
