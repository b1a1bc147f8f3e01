import { RecentMap } from '../recent-map.ts';
import { type SummaryDependencies, spentByKey } from './usage-summary.ts';

/** Number of accounts whose sums a process remembers. */
const ACCOUNTS_MAX = 1_000;

/** Age in ms at which sums are read again (KEY-8). */
const KEPT_MS = 60_000;

interface Known {
  readonly atMs: number;
  readonly picos: ReadonlyMap<string, bigint>;
}

/**
 * Returns the charges of an account in pico-USD by the id of their API key. They may be a minute late, so that a client
 * that repeats its request does not read the same records each time. Undefined while not all records were read. Throws
 * StoreError.
 */
export const createRecentSpend = (
  deps: SummaryDependencies,
): ((accountId: string) => Promise<Known['picos'] | undefined>) => {
  const known = new RecentMap<Known>(ACCOUNTS_MAX);
  return async (accountId) => {
    const atMs = deps.clock.now();
    const found = known.get(accountId);
    if (found && found.atMs + KEPT_MS > atMs) return found.picos;
    const { picos, isComplete } = await spentByKey(deps, accountId);
    if (!isComplete) return undefined;
    known.set(accountId, { atMs, picos });
    return picos;
  };
};
