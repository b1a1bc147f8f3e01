import { retryUntilDefinite } from '../retry.ts';
import type { LedgerDependencies, OutboxEntry } from './ledger.ts';

/** Entry of the outbox's history. */
export interface PastEntry {
  readonly entry: OutboxEntry;
  /** Whether the entry is in the outbox now. Otherwise it was removed. */
  readonly isWaiting: boolean;
}

/** Earlier entries of the outbox, which a versioned bucket keeps. */
export interface OutboxHistory {
  /** Lists waiting entries, and those that were removed at or after a time in Unix ms. Throws StoreError. */
  since(atMs: number): AsyncIterable<PastEntry>;
}

/**
 * `replayed`: the entry waits in the outbox again, or still. `recorded`: the restored table has the outcome of the hold.
 * `lost`: the restored table does not have the hold, because it was placed later.
 */
export type ReplayOutcome = 'replayed' | 'recorded' | 'lost';

export interface Replayed {
  readonly entry: OutboxEntry;
  readonly outcome: ReplayOutcome;
}

type ReplayDependencies = Pick<LedgerDependencies, 'store' | 'outbox' | 'clock' | 'random'>;

/**
 * Prepares the outbox for a restored accounts table (OPS-16), before workers continue. Puts an entry back if its hold is
 * open: the restore has undone its charge, and the sweeper would release the hold. Removes a waiting entry without a
 * hold, because its charge would have no hold to take the money from, and the audit would report it. With `isDryRun` it
 * only reports. Safe to repeat. Throws StoreError.
 */
export async function* replayOutbox(
  deps: ReplayDependencies,
  history: OutboxHistory,
  { sinceMs, isDryRun }: { readonly sinceMs: number; readonly isDryRun: boolean },
): AsyncGenerator<Replayed> {
  for await (const { entry, isWaiting } of history.since(sinceMs)) {
    const outcome = await outcomeOf(deps, entry);
    if (!isDryRun) {
      if (outcome === 'replayed' && !isWaiting) await retryUntilDefinite(deps, () => deps.outbox.put(entry));
      if (outcome === 'lost' && isWaiting)
        await retryUntilDefinite(deps, () => deps.outbox.remove(entry.record.holdId));
    }
    yield { entry, outcome };
  }
}

const outcomeOf = async (deps: ReplayDependencies, entry: OutboxEntry): Promise<ReplayOutcome> => {
  const { accountId, holdId } = entry.record;
  if (await retryUntilDefinite(deps, () => deps.store.readRecord(accountId, holdId))) return 'recorded';
  const account = await retryUntilDefinite(deps, () => deps.store.readAccount(accountId));
  return account?.holds.get(holdId)?.amountPicos === entry.holdAmountPicos ? 'replayed' : 'lost';
};
