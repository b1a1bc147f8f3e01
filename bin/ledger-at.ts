import type { LedgerDependencies } from '../lambdas/core/ledger/ledger.ts';
import { settingsSchema } from '../lambdas/settings.ts';
import { misused } from './exit.ts';
import type { Place } from './place.ts';
import { steady } from './with-retries.ts';

/** Returns the dependencies for ending holds in the same way as the functions. */
export const toLedgerDependencies = (place: Place): LedgerDependencies => ({
  store: place.stores.ledger,
  outbox: place.stores.outbox,
  ...steady,
  shortestLifetimeMs: secondsAt(place, 'HOLD_GRACE_SECONDS') * 1_000,
});

/** Reads a setting of the functions in seconds, with their default. Throws a CliError for an invalid value. */
export const secondsAt = ({ environment }: Place, name: 'HOLD_GRACE_SECONDS' | 'VIDEO_LIMIT_SECONDS'): number => {
  const parsed = settingsSchema.shape[name].safeParse(environment[name] || undefined);
  if (parsed.success) return parsed.data;
  throw misused(`${name}: ${parsed.error.issues[0]?.message}`);
};
