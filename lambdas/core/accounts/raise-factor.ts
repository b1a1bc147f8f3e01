import { type Clock, inTime } from '../clock.ts';
import { forEachConcurrent } from '../concurrency.ts';
import type { KeyStore } from './key-store.ts';

interface RaiseDependencies {
  readonly keys: KeyStore;
  readonly clock: Clock;
}

/** Longest time that a settlement waits for the factor, in ms. */
const RAISE_LIMIT_MS = 500;

/**
 * Stores the estimate factor of an account on its API key items (BILL-20). The other keys of the account and the successor of a
 * replaced key get it too. Best effort: ignores errors, and waits for at most 500 ms.
 */
export const raiseFactor = async (
  { keys, clock }: RaiseDependencies,
  { accountId, hash }: { readonly accountId: string; readonly hash: string },
  factor: number,
): Promise<void> => {
  const raised = { factor, atMs: clock.now() };
  const raise = async (): Promise<void> => {
    await keys.raiseFactor(hash, raised);
    const { first, named } = await keys.ring(accountId);
    const hashes = [...(first ? [first] : []), ...named].map((key) => key.hash).filter((other) => other !== hash);
    await forEachConcurrent(hashes, async (other) => {
      await keys.raiseFactor(other, raised);
    });
  };
  await inTime(
    clock,
    RAISE_LIMIT_MS,
    raise().catch(() => undefined),
  );
};
