import type { CircuitId, Opening } from '../../../lambdas/core/circuit/circuit.ts';
import {
  type BucketCount,
  type CircuitReading,
  type CircuitState,
  type CircuitStore,
  type MissingCount,
  sumOfMissing,
} from '../../../lambdas/core/circuit/circuit-store.ts';

interface Kept<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

const nameOf = ({ providerId, modelId }: CircuitId): string => `${providerId}#${modelId}`;

/** In-memory fake of the shared circuits. */
export class MemoryCircuitStore implements CircuitStore {
  readonly #states = new Map<string, Kept<CircuitState>>();
  readonly #buckets = new Map<string, BucketCount>();
  readonly #missing = new Map<string, MissingCount>();
  readonly #shutUntilMs = new Map<string, number>();

  stateOf(key: CircuitId): CircuitState | undefined {
    return this.#states.get(nameOf(key))?.value;
  }

  bucketOf(key: CircuitId, startMs: number): BucketCount {
    return this.#buckets.get(`${nameOf(key)}#${startMs}`) ?? { startMs, failures: 0, successes: 0, accounts: [] };
  }

  liftQuarantine(modelId: string): void {
    this.#shutUntilMs.delete(modelId);
  }

  async read(key: CircuitId, bucketStartsMs: readonly number[], nowMs: number): Promise<CircuitReading> {
    return {
      state: { known: true, value: this.#stateAt(key, nowMs) },
      buckets: bucketStartsMs.map((startMs) => this.bucketOf(key, startMs)),
      quarantinedUntilMs: { known: true, value: this.#shutUntilMs.get(key.modelId) ?? 0 },
    };
  }

  async count(key: CircuitId, added: BucketCount): Promise<void> {
    const { startMs, failures, successes, accounts } = this.bucketOf(key, added.startMs);
    this.#buckets.set(`${nameOf(key)}#${startMs}`, {
      startMs,
      failures: failures + added.failures,
      successes: successes + added.successes,
      accounts: [...new Set([...accounts, ...added.accounts])],
    });
  }

  async open(key: CircuitId, opening: Opening, nowMs: number, expiresAtMs: number): Promise<boolean> {
    if (this.#stateAt(key, nowMs)) return false;
    this.#states.set(nameOf(key), { value: { ...opening, probe: undefined }, expiresAtMs });
    return true;
  }

  async lease(
    key: CircuitId,
    probe: { readonly owner: string; readonly leaseUntilMs: number },
    nowMs: number,
  ): Promise<{ leased: CircuitState } | { refused: CircuitState | undefined }> {
    const state = this.#stateAt(key, nowMs);
    const free = state && state.openUntilMs <= nowMs && (!state.probe || state.probe.leaseUntilMs <= nowMs);
    if (!free) return { refused: state };
    return { leased: this.#change(key, { ...state, probe }) };
  }

  async renew(key: CircuitId, owner: string, leaseUntilMs: number): Promise<boolean> {
    return this.#asOwner(key, owner, (state) => this.#change(key, { ...state, probe: { owner, leaseUntilMs } }));
  }

  async releaseProbe(key: CircuitId, owner: string): Promise<boolean> {
    return this.#asOwner(key, owner, (state) => this.#change(key, { ...state, probe: undefined }));
  }

  async judge(key: CircuitId, owner: string, opening: Opening, expiresAtMs: number): Promise<boolean> {
    return this.#asOwner(key, owner, () =>
      this.#states.set(nameOf(key), { value: { ...opening, probe: undefined }, expiresAtMs }),
    );
  }

  async close(key: CircuitId, owner: string): Promise<boolean> {
    return this.#asOwner(key, owner, () => this.#states.delete(nameOf(key)));
  }

  async countMissing(modelId: string, account: string, bucketStartMs: number): Promise<MissingCount> {
    const counted = sumOfMissing([this.#missingOf(modelId, bucketStartMs), { count: 1, accounts: [account] }]);
    this.#missing.set(`${modelId}#${bucketStartMs}`, counted);
    return counted;
  }

  async readMissing(modelId: string, bucketStartsMs: readonly number[]): Promise<MissingCount> {
    return sumOfMissing(bucketStartsMs.map((startMs) => this.#missingOf(modelId, startMs)));
  }

  #missingOf(modelId: string, startMs: number): MissingCount {
    return this.#missing.get(`${modelId}#${startMs}`) ?? { count: 0, accounts: [] };
  }

  async quarantine(modelId: string, untilMs: number, nowMs: number): Promise<boolean> {
    if ((this.#shutUntilMs.get(modelId) ?? 0) > nowMs) return false;
    this.#shutUntilMs.set(modelId, untilMs);
    return true;
  }

  #stateAt(key: CircuitId, nowMs: number): CircuitState | undefined {
    const kept = this.#states.get(nameOf(key));
    return kept && kept.expiresAtMs > nowMs ? kept.value : undefined;
  }

  #change(key: CircuitId, value: CircuitState): CircuitState {
    const expiresAtMs = this.#states.get(nameOf(key))?.expiresAtMs ?? 0;
    this.#states.set(nameOf(key), { value, expiresAtMs });
    return value;
  }

  #asOwner(key: CircuitId, owner: string, change: (state: CircuitState) => void): boolean {
    const state = this.stateOf(key);
    if (state?.probe?.owner !== owner) return false;
    change(state);
    return true;
  }
}
