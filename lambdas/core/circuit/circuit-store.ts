import { isAhead } from '../clock.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';
import { type CircuitId, type CircuitSettings, isOpenUntil, type Opening } from './circuit.ts';

/** Shared state of a circuit that is open or half open. A closed circuit has none. */
export interface CircuitState extends Opening {
  readonly probe: { readonly owner: string; readonly leaseUntilMs: number } | undefined;
}

/** Lease of a probe, in ms. */
export const PROBE_LEASE_MS = 30_000;

/** Returns the time until which no probe may start; undefined if one may. */
export const unavailableUntilMs = (
  { openUntilMs, probe }: CircuitState,
  nowMs: number,
  settings: CircuitSettings,
): number | undefined => {
  if (isOpenUntil(openUntilMs, nowMs, settings)) return openUntilMs;
  return probe && isAhead(probe.leaseUntilMs, nowMs, PROBE_LEASE_MS + SKEW_MS_MAX) ? probe.leaseUntilMs : undefined;
};

/** Calls counted in one bucket of the window. */
export interface BucketCount {
  readonly startMs: number;
  readonly failures: number;
  readonly successes: number;
  /** Hashes of some accounts whose calls failed. There are at least two if calls of two accounts failed. */
  readonly accounts: readonly string[];
}

/** Result of reading one item. A store may skip items when it is short of capacity. */
type Part<T> = { readonly known: false } | { readonly known: true; readonly value: T };

export interface CircuitReading {
  readonly state: Part<CircuitState | undefined>;
  /** Buckets that were read. A bucket without calls has zeros. */
  readonly buckets: readonly BucketCount[];
  /** Time until which the model is disabled, in Unix milliseconds; 0 if it is enabled. */
  readonly quarantinedUntilMs: Part<number>;
}

/**
 * Shared state of circuits. Each method is one call, and throws StoreError if the result is not definite. Times are
 * Unix milliseconds of the caller's clock. Methods that return a boolean report whether their condition held.
 */
export interface CircuitStore {
  /** Reads consistently. An expired state is the same as no state. */
  read(key: CircuitId, bucketStartsMs: readonly number[], nowMs: number): Promise<CircuitReading>;
  /** Adds to a bucket. Sent once: a repeat would count twice. */
  count(key: CircuitId, added: BucketCount, expiresAtMs: number): Promise<void>;
  /** Opens the circuit if it has no state. */
  open(key: CircuitId, opening: Opening, nowMs: number, expiresAtMs: number): Promise<boolean>;
  /**
   * Takes the lease of a circuit whose probe is due and not running. `refused` returns the current state; undefined if
   * the circuit has none.
   */
  lease(
    key: CircuitId,
    probe: { readonly owner: string; readonly leaseUntilMs: number },
    nowMs: number,
  ): Promise<{ readonly leased: CircuitState } | { readonly refused: CircuitState | undefined }>;
  /** Renews the lease. Like `releaseProbe`, `judge` and `close`, has an effect only if `owner` has the lease. */
  renew(key: CircuitId, owner: string, leaseUntilMs: number): Promise<boolean>;
  releaseProbe(key: CircuitId, owner: string): Promise<boolean>;
  /** Ends the lease and stores the state that follows from the probe. */
  judge(key: CircuitId, owner: string, opening: Opening, expiresAtMs: number): Promise<boolean>;
  /** Removes the state. */
  close(key: CircuitId, owner: string): Promise<boolean>;

  /**
   * Counts a successful response of this account without usage. Returns the count of the bucket, including this
   * response. Never repeated: a repeat would count twice.
   */
  countMissing(modelId: string, account: string, bucketStartMs: number, expiresAtMs: number): Promise<MissingCount>;
  /** Returns the sum over these buckets. */
  readMissing(modelId: string, bucketStartsMs: readonly number[]): Promise<MissingCount>;
  /**
   * Disables the model, unless it is already disabled. The item is stored under `quarantine#<model>`. Deleting it lifts
   * the quarantine; every process follows within 5 s.
   */
  quarantine(modelId: string, untilMs: number, nowMs: number): Promise<boolean>;
}

/** Responses without usage, of which earlier releases did not store the accounts. */
export interface MissingCount {
  readonly count: number;
  /** Hashes of the accounts, each once. */
  readonly accounts: readonly string[];
}

export const sumOfMissing = (parts: readonly MissingCount[]): MissingCount => ({
  count: parts.reduce((sum, { count }) => sum + count, 0),
  accounts: [...new Set(parts.flatMap(({ accounts }) => accounts))],
});

/** Returns undefined if the store fails. A circuit must never fail the call that it protects. */
export const orUndefined = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch {
    return undefined;
  }
};
