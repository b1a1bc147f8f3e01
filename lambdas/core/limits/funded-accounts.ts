import { type Clock, isAhead } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';

const FUNDED_MS = 10 * 60_000;
const ACCOUNTS_MAX = 10_000;

/** Facts that a placed hold shows about its account. */
interface SeenHold {
  readonly accountId: string;
  readonly amountPicos: bigint;
  /** Cap in which the hold counts. */
  readonly cap?: { readonly keyId: string } | undefined;
  /** Pico-USD that the account had available before the hold, or the rest of the cap if that is less. */
  readonly availablePicos?: bigint | undefined;
}

/** Accounts that this process recently saw pay for a hold. Their balance is known without a read (GEN-14). */
export class FundedAccounts {
  readonly #clock: Clock;
  /** Unix ms of the last hold by account id. */
  readonly #lastHolds = new RecentMap<number>(ACCOUNTS_MAX);
  /** Pico-USD that were available before the last hold, by account and capped API key. */
  readonly #available = new RecentMap<bigint>(ACCOUNTS_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a placed hold. A hold of 0 needs no balance, so it does not count. */
  mark({ accountId, amountPicos, cap, availablePicos }: SeenHold): void {
    if (amountPicos <= 0n) return;
    this.#lastHolds.set(accountId, this.#clock.now());
    if (availablePicos !== undefined) this.#available.set(placeOf(accountId, cap?.keyId), availablePicos);
  }

  /** Records a hold that is placed now. A failed hold leaves the balance unknown. Returns its result. */
  async learnFrom<Hold extends SeenHold>(accountId: string, placing: Promise<Hold>): Promise<Hold> {
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

  /**
   * Returns what this process last saw available for the account, or for its API key with a cap, in pico-USD. Undefined if
   * it does not know the balance, or saw no hold of this key.
   */
  lastAvailable(accountId: string, cappedKeyId: string | undefined): bigint | undefined {
    return this.has(accountId) ? this.#available.get(placeOf(accountId, cappedKeyId)) : undefined;
  }
}

/** No key id contains a blank. */
const placeOf = (accountId: string, cappedKeyId = ''): string => `${cappedKeyId} ${accountId}`;
