import { isAhead } from '../clock.ts';
import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import { parseRequestId } from '../request-id.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';
import { requestIdOf } from './hold.ts';
import type { Account, Hold, LedgerDependencies } from './ledger.ts';
import { resolveHoldById } from './release.ts';
import { apply } from './resolve.ts';

export interface SweepReport {
  readonly accounts: number;
  readonly released: number;
  /** Holds that a record or an outbox entry had committed before the account was updated. */
  readonly finished: number;
  /** Accounts and holds left for the next run. */
  readonly failed: number;
  /**
   * Errors that need an operator: failures for another reason than the store, such as an unreadable item. Reported
   * after all others are processed.
   */
  readonly bug: AggregateError | undefined;
}

interface Ended {
  released: number;
  finished: number;
}

/**
 * BILL-13: ends every hold that expired or has a record, except those of a newer release (OPS-11). An existing record,
 * or one in the outbox, takes precedence. A failure of one hold or account is left for the next run and does not delay
 * the others. Throws StoreError if the list cannot be read.
 */
export const sweep = async (deps: LedgerDependencies): Promise<SweepReport> => {
  const ended: Ended = { released: 0, finished: 0 };
  const bugs: unknown[] = [];
  let failed = 0;
  const dueMs = deps.clock.now();
  // No write sets a later sweep than one shortest lifetime ahead.
  const due = await deps.store.due(dueMs, dueMs + deps.shortestLifetimeMs + SKEW_MS_MAX);
  await forEachConcurrent(due, async ({ accountId }) => {
    for (const error of await sweepAccount(deps, { accountId, dueMs }, ended)) {
      failed += 1;
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  const message = `${bugs.length} accounts or holds could not be swept`;
  const bug = bugs.length === 0 ? undefined : new AggregateError(bugs, message);
  return { accounts: due.length, ...ended, failed, bug };
};

interface DueAccount {
  readonly accountId: string;
  /** Time of the list that named the account, in Unix ms. */
  readonly dueMs: number;
}

/** Sweeps one account. Returns the errors. */
const sweepAccount = async (
  deps: LedgerDependencies,
  { accountId, dueMs }: DueAccount,
  ended: Ended,
): Promise<unknown[]> => {
  const errors: unknown[] = [];
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const account = await attempt(() => deps.store.readAccount(accountId));
  if (!account) return errors;
  for (const [holdId, hold] of account.holds) {
    if (hold.isNewer) continue;
    await attempt(() => endHold(deps, accountId, holdId, hold, ended));
  }
  await attempt(async () => scheduleNext(deps, await deps.store.readAccount(accountId), dueMs));
  return errors;
};

/** Time that a process has to update the account after it wrote a record, in ms. */
const OWN_UPDATE_MS = 5_000;

/**
 * Ends a hold that expired and that this process does not serve, or whose outcome was recorded some time ago: it was
 * given up, or its process ended between the record and the update of the account.
 */
const endHold = async (
  deps: LedgerDependencies,
  accountId: string,
  holdId: string,
  hold: Hold,
  ended: Ended,
): Promise<void> => {
  const now = deps.clock.now();
  const hasExpired = isExpired(deps, holdId, hold, now);
  const record = hasExpired
    ? await resolveHoldById(deps, { accountId, holdId, reason: 'expired', cap: hold.cap })
    : await deps.store.readRecord(accountId, holdId);
  if (!record || (!hasExpired && isAhead(record.at + OWN_UPDATE_MS, now, OWN_UPDATE_MS + SKEW_MS_MAX))) return;
  const applied = await apply(deps, record, hold.amountPicos);
  if (applied) ended[record.outcome === 'settled' ? 'finished' : 'released'] += 1;
};

const isExpired = ({ served }: LedgerDependencies, holdId: string, { expiresAtMs }: Hold, nowMs: number): boolean => {
  if (served?.has(holdId)) return false;
  if (expiresAtMs <= nowMs) return true;
  const placedAtMs = parseRequestId(requestIdOf(holdId))?.atMs ?? 0;
  const isOfClockAhead = placedAtMs > nowMs + SKEW_MS_MAX;
  return isOfClockAhead && served?.hasOutlived(holdId, expiresAtMs - placedAtMs) === true;
};

/** The store takes an account off the list only if it has no open hold: one may have been placed since the read. */
const scheduleNext = async (deps: LedgerDependencies, account: Account | undefined, dueMs: number): Promise<void> => {
  if (!account) return;
  const soonestMs = deps.clock.now() + deps.shortestLifetimeMs;
  const expiries = [...account.holds.values()].filter(({ isNewer }) => !isNewer).map((hold) => hold.expiresAtMs);
  const next = account.holds.size === 0 ? undefined : Math.min(soonestMs, ...expiries);
  await deps.store.reschedule(account.id, next, dueMs);
};
