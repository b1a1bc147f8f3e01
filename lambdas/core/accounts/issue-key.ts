import { untilDefinite } from '../ledger/resolve.ts';
import type { AccountStore, CurrentKey } from './account-store.ts';
import { type MadeKey, makeKey } from './new-key.ts';
import type { RotationPorts } from './rotate-key.ts';

export type Issued =
  | { readonly kind: 'issued'; readonly made: MadeKey }
  /** Somebody else has issued one meanwhile. */
  | { readonly kind: 'has-key'; readonly current: CurrentKey }
  /** There is no such account, it is blocked, or its key has been another one meanwhile and revoked. */
  | { readonly kind: 'refused' };

/**
 * A key for an account that has no working one: its first, one in place of a revoked one, or that of an account which is opened with
 * it. Throws StoreError.
 */
export const issueKey = async (
  ports: RotationPorts,
  accountId: string,
  current: CurrentKey | undefined | 'new',
): Promise<Issued> => {
  const { accounts, clock } = ports;
  const made = makeKey(ports, true);
  const { key } = made;
  const atMs = clock.now();
  const reply = await untilDefinite(ports, (): Promise<Reply> => {
    if (current === 'new') return accounts.open({ accountId, chatId: undefined, key, creditPicos: 0n, atMs });
    if (!current) return accounts.putFirstKey(accountId, key, atMs);
    return accounts.replaceKey({ accountId, oldHash: current.hash, key, atMs });
  });
  if (isDone.has(reply)) return { kind: 'issued', made };
  // A write whose reply was lost finds its own key when it is repeated.
  const now = await untilDefinite(ports, () => accounts.currentKey(accountId));
  if (now?.hash === key.hash) return { kind: 'issued', made };
  return now && !now.isRevoked ? { kind: 'has-key', current: now } : { kind: 'refused' };
};

type Reply = Awaited<ReturnType<AccountStore['open' | 'putFirstKey' | 'replaceKey']>>;

const isDone: ReadonlySet<Reply> = new Set(['opened', 'put', 'replaced']);
