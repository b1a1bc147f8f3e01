import type { Clock } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';

const FUNDED_MS = 10 * 60_000;
const ACCOUNTS_MAX = 10_000;

/** Accounts that this process recently saw pay for a hold. Their balance is known without a read (GEN-14). */
export class FundedAccounts {
  readonly #clock: Clock;
  /** Unix ms of the last hold by account id. */
  readonly #lastHolds = new RecentMap<number>(ACCOUNTS_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a placed hold. A hold of 0 needs no balance, so it does not count. */
  mark({ accountId, amountPicos }: { readonly accountId: string; readonly amountPicos: bigint }): void {
    if (amountPicos > 0n) this.#lastHolds.set(accountId, this.#clock.now());
  }

  /** Records that the account could not pay for a hold. */
  forget(accountId: string): void {
    this.#lastHolds.delete(accountId);
  }

  /** Whether the account paid for a hold in the last 10 minutes, and for all since. */
  has(accountId: string): boolean {
    const markedAtMs = this.#lastHolds.get(accountId);
    return markedAtMs !== undefined && this.#clock.now() - markedAtMs < FUNDED_MS;
  }
}
