import { type TurnKey, UPDATE_LEASE_MS, type UpdateLog } from '../../../lambdas/core/accounts/chats.ts';
import { SKEW_MS_MAX } from '../../../lambdas/core/store-clock.ts';

/** In-memory fake of the log of bot updates and starts. Each key has the end of its lease, or `done`. */
export class MemoryUpdateLog implements UpdateLog {
  readonly #leases = new Map<TurnKey, number | 'done'>();

  async claim(key: TurnKey, nowMs: number): Promise<'claimed' | 'busy' | 'done'> {
    const lease = this.#leases.get(key);
    if (lease === 'done') return 'done';
    if (lease !== undefined && lease >= nowMs && lease <= nowMs + UPDATE_LEASE_MS + SKEW_MS_MAX) return 'busy';
    this.#leases.set(key, nowMs + UPDATE_LEASE_MS);
    return 'claimed';
  }

  async finish(key: TurnKey): Promise<void> {
    this.#leases.set(key, 'done');
  }

  async free(key: TurnKey): Promise<void> {
    if (this.#leases.get(key) !== 'done') this.#leases.delete(key);
  }
}
