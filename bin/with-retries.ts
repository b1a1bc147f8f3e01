import { ulid } from 'ulid';
import { retryUntilDefinite } from '../lambdas/core/retry.ts';
import { systemClock } from '../lambdas/functions/wiring/ledger.ts';
import type { ReasonOptions } from './command-options.ts';
import type { Place } from './place.ts';

/** What repeats a write that is safe to repeat, until its answer is definite. */
export const steady = { clock: systemClock, random: Math.random };

/** Writes down why, before anything is changed: what was begun is then known, whatever becomes of it. */
export const logOperation = async (
  { stores }: Place,
  accountId: string,
  command: string,
  { reason, ref }: Pick<ReasonOptions, 'reason'> & { readonly ref?: string },
): Promise<void> => {
  const operation = { accountId, id: ulid(), command, reason, at: Date.now(), ...(ref === undefined ? {} : { ref }) };
  await retryUntilDefinite(steady, () => stores.operations.add(operation));
};
