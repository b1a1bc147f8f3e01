import type { Clock } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';

const ACCOUNTS_MAX = 50_000;

/** Time for which an accepted hold shows that the account has money, in ms. */
const KNOWN_FOR_MS = 10 * 60_000;

/** Accounts of which this process recently saw an accepted hold, so that they have a balance. */
export class FundedAccounts {
  readonly #clock: Clock;
  readonly #seenAtMs = new RecentMap<number>(ACCOUNTS_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mark(accountId: string): void {
    this.#seenAtMs.set(accountId, this.#clock.now());
  }

  has(accountId: string): boolean {
    return this.#clock.now() < (this.#seenAtMs.get(accountId) ?? Number.NEGATIVE_INFINITY) + KNOWN_FOR_MS;
  }
}
