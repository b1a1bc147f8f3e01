import { type Clock, inTime } from '../clock.ts';
import type { KeyStore } from './key-store.ts';

interface RaiseDependencies {
  readonly keys: KeyStore;
  readonly clock: Clock;
}

/** Longest time that a settlement waits for the factor, in ms. */
const RAISE_LIMIT_MS = 500;

/**
 * Stores the estimate factor of an account on its API key items (BILL-20). If the key was replaced during the request,
 * the factor also goes to the new key. Best effort: ignores errors, and waits for at most 500 ms.
 */
export const raiseFactor = async (
  { keys, clock }: RaiseDependencies,
  { accountId, hash }: { readonly accountId: string; readonly hash: string },
  factor: number,
): Promise<void> => {
  const raised = { factor, atMs: clock.now() };
  const raise = async (): Promise<void> => {
    const key = await keys.raiseFactor(hash, raised);
    if (key?.status !== 'revoked') return;
    const current = await keys.currentKey(accountId);
    if (current && current.hash !== hash) await keys.raiseFactor(current.hash, raised);
  };
  await inTime(
    clock,
    RAISE_LIMIT_MS,
    raise().catch(() => undefined),
  );
};
