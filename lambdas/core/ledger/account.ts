/** One open reservation of money. */
export interface Hold {
  readonly amountPicos: bigint;
  /** Unix milliseconds. A hold is released by the sweeper once this has passed. */
  readonly expiresAtMs: number;
}

export type AccountStatus = 'active' | 'blocked';

/**
 * The account item. In every state of it: balance = available + sum of open holds = credited - spent.
 * All amounts are pico-USD.
 */
export interface Account {
  readonly id: string;
  readonly status: AccountStatus;
  readonly availablePicos: bigint;
  readonly creditedPicos: bigint;
  readonly spentPicos: bigint;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Rises by one with every write. */
  readonly version: number;
}

/** Open holds an account may have at a time (LIM-8). */
export const HOLDS_MAX = 200;

export const balanceOf = (account: Account): bigint => account.creditedPicos - account.spentPicos;

export const heldOf = (account: Account): bigint => {
  let sum = 0n;
  for (const hold of account.holds.values()) sum += hold.amountPicos;
  return sum;
};
