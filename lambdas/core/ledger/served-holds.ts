import { RecentMap } from '../recent-map.ts';

/** Number of holds that are kept. The oldest are forgotten first, and are then judged by the clock alone. */
const HOLDS_MAX = 20_000;

/**
 * Open holds of the requests that this process serves. Its sweeper leaves them open, whatever the clock shows: a step of
 * the clock must not end a request in progress (BILL-13). Each hold is kept for its lifetime, which a monotonic time
 * measures, so that a hold that its request could not close is still swept.
 */
export class ServedHolds {
  readonly #monotonicMs: () => number;
  readonly #endsAtMs = new RecentMap<number>(HOLDS_MAX);
  readonly #aheadEndsAtMs = new RecentMap<number>(HOLDS_MAX);

  /** `monotonicMs` returns a time that no step of the clock changes. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  placed(holdId: string, lifetimeMs: number): void {
    this.#endsAtMs.set(holdId, this.#monotonicMs() + lifetimeMs);
  }

  closed(holdId: string): void {
    this.#endsAtMs.delete(holdId);
  }

  has(holdId: string): boolean {
    const endsAtMs = this.#endsAtMs.get(holdId);
    return endsAtMs !== undefined && this.#monotonicMs() < endsAtMs;
  }

  /**
   * Whether a hold of any process that a clock ahead has placed is over. Its stored expiry says nothing, so its lifetime
   * starts when this process sees it first.
   */
  hasOutlived(holdId: string, lifetimeMs: number): boolean {
    return this.#monotonicMs() >= this.#aheadEndsAtMs.getOrMake(holdId, () => this.#monotonicMs() + lifetimeMs);
  }
}
