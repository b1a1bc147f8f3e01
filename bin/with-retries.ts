import { ulid } from 'ulid';
import { retryUntilDefinite } from '../lambdas/core/retry.ts';
import { systemClock } from '../lambdas/functions/wiring/ledger.ts';
import type { ReasonOptions } from './command-options.ts';
import type { Place } from './place.ts';

/** Clock and random source for `retryUntilDefinite`. */
export const steady = { clock: systemClock, random: Math.random };

/** Stores the operation and its reason before any change, so that even an interrupted operation is on record. */
export const logOperation = async (
  { stores }: Place,
  accountId: string,
  command: string,
  { reason, ref }: Pick<ReasonOptions, 'reason'> & { readonly ref?: string },
): Promise<void> => {
  const operation = { accountId, id: ulid(), command, reason, at: Date.now(), ...(ref === undefined ? {} : { ref }) };
  await retryUntilDefinite(steady, () => stores.operations.add(operation));
};
