import { UPDATE_LEASE_MS, type UpdateLog } from '../../../lambdas/core/accounts/update-log.ts';

/** Updates by number, each with the end of its lease. */
export class MemoryUpdateLog implements UpdateLog {
  readonly #leases = new Map<number, number | 'done'>();

  async claim(updateId: number, nowMs: number): Promise<'claimed' | 'busy' | 'done'> {
    const lease = this.#leases.get(updateId);
    if (lease === 'done') return 'done';
    if (lease !== undefined && lease >= nowMs) return 'busy';
    this.#leases.set(updateId, nowMs + UPDATE_LEASE_MS);
    return 'claimed';
  }

  async finish(updateId: number): Promise<void> {
    this.#leases.set(updateId, 'done');
  }

  async free(updateId: number): Promise<void> {
    if (this.#leases.get(updateId) !== 'done') this.#leases.delete(updateId);
  }
}
