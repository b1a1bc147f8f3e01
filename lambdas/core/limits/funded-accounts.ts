import { type Clock, isAhead } from '../clock.ts';
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

  /** Records a hold that is placed now. A failed hold leaves the balance unknown. Returns its result. */
  async learnFrom<Hold extends { readonly accountId: string; readonly amountPicos: bigint }>(
    accountId: string,
    placing: Promise<Hold>,
  ): Promise<Hold> {
    try {
      const placed = await placing;
      this.mark(placed);
      return placed;
    } catch (error) {
      this.#lastHolds.delete(accountId);
      throw error;
    }
  }

  /** Whether the account paid for a hold in the last 10 minutes, and for all since. */
  has(accountId: string): boolean {
    const markedAtMs = this.#lastHolds.get(accountId);
    return markedAtMs !== undefined && isAhead(markedAtMs + FUNDED_MS, this.#clock.now(), FUNDED_MS);
  }
}
