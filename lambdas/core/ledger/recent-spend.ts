import { isAhead } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';
import type { SummaryDependencies } from './usage-periods.ts';
import { createSpentByKey } from './usage-summary.ts';

/** Number of accounts whose sums a process remembers. */
const ACCOUNTS_MAX = 1_000;

/** Age in ms at which sums are read again (KEY-8). */
const KEPT_MS = 60_000;

interface Known {
  readonly atMs: number;
  readonly picos: ReadonlyMap<string, bigint>;
}

/**
 * Does what `createSpentByKey` does, but up to a minute late, so that a client that repeats its request does not read
 * the same records each time.
 */
export const createRecentSpend = (
  deps: SummaryDependencies,
): ((accountId: string) => Promise<Known['picos'] | undefined>) => {
  const read = createSpentByKey(deps);
  const known = new RecentMap<Known>(ACCOUNTS_MAX);
  return async (accountId) => {
    const atMs = deps.clock.now();
    const found = known.get(accountId);
    // Sums from after now were read before the clock was set back.
    if (found && isAhead(found.atMs + KEPT_MS, atMs, KEPT_MS)) return found.picos;
    const picos = await read(accountId);
    if (picos) known.set(accountId, { atMs, picos });
    return picos;
  };
};
