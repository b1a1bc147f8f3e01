import type { CircuitId, Opening } from './circuit.ts';

/** The state item of a circuit that is open or half open for everybody; a closed one has none. */
export interface CircuitState extends Opening {
  readonly probe: { readonly owner: string; readonly leaseUntilMs: number } | undefined;
}

/** Calls counted in one bucket of the window. */
export interface BucketCount {
  readonly startMs: number;
  readonly failures: number;
  readonly successes: number;
  /** Hashes of accounts whose calls failed: some of them, two or more if there were two or more. */
  readonly accounts: readonly string[];
}

/** Result of reading one item. A store may skip items when it is short of capacity. */
type Part<T> = { readonly known: false } | { readonly known: true; readonly value: T };

export interface CircuitReading {
  readonly state: Part<CircuitState | undefined>;
  /** Buckets that were read. A bucket without calls has zeros. */
  readonly buckets: readonly BucketCount[];
  /** Unix milliseconds until which the model is shut, 0 when it is not. */
  readonly quarantinedUntilMs: Part<number>;
}

/**
 * What all processes know of circuits. Every method is one call, and throws StoreError when it brought no definite answer. Times are
 * unix milliseconds of the caller's clock. Those that answer a boolean say whether their condition held.
 */
export interface CircuitStore {
  /** Reads consistently. An expired state is the same as no state. */
  read(key: CircuitId, bucketStartsMs: readonly number[], nowMs: number): Promise<CircuitReading>;
  /** Adds to a bucket. Sent once: a repeat would count twice. */
  count(key: CircuitId, added: BucketCount, expiresAtMs: number): Promise<void>;
  /** Only while there is no state. */
  open(key: CircuitId, opening: Opening, nowMs: number, expiresAtMs: number): Promise<boolean>;
  /**
   * Takes the lease of a circuit that is due and has no probe. `refused` returns the present state, undefined if there
   * is none.
   */
  lease(
    key: CircuitId,
    probe: { readonly owner: string; readonly leaseUntilMs: number },
    nowMs: number,
  ): Promise<{ readonly leased: CircuitState } | { readonly refused: CircuitState | undefined }>;
  /** This and all below: only for the owner of the lease. */
  renew(key: CircuitId, owner: string, leaseUntilMs: number): Promise<boolean>;
  releaseProbe(key: CircuitId, owner: string): Promise<boolean>;
  /** Ends the lease and sets what the probe has made of the circuit. */
  judge(key: CircuitId, owner: string, opening: Opening, expiresAtMs: number): Promise<boolean>;
  /** Removes the state. */
  close(key: CircuitId, owner: string): Promise<boolean>;

  /** Counts a good answer without usage. Answers the bucket's count, this one included. Sent once. */
  countMissing(modelId: string, bucketStartMs: number, expiresAtMs: number): Promise<number>;
  /** The sum over these buckets. */
  readMissing(modelId: string, bucketStartsMs: readonly number[]): Promise<number>;
  /**
   * Disables the model, unless it is already disabled. The item is stored under `quarantine#<model>`. Deleting it lifts
   * the quarantine; every process follows within 5 s.
   */
  quarantine(modelId: string, untilMs: number, nowMs: number): Promise<boolean>;
}

/** Undefined when the store gave no answer, for whatever reason: a circuit must never fail the call that it watches over. */
export const orUndefined = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch {
    return undefined;
  }
};
