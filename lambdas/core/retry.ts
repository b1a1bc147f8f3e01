import { type Clock, sleep } from './clock.ts';
import { StoreError } from './errors/store-error.ts';

const RETRY_DELAYS_MS = [50, 200, 800] as const;

interface RetryDependencies {
  readonly clock: Clock;
  /** Random number from 0 up to 1, which spreads the retries of many callers. */
  readonly random: () => number;
}

/**
 * Makes an idempotent call, and repeats it after a StoreError up to three times, after about 50, 200 and 800 ms with
 * jitter. Throws the last StoreError. `limitMs` limits the total time; a call that is still in progress then continues,
 * and its result is unknown.
 */
export const retryUntilDefinite = async <T>(
  deps: RetryDependencies,
  call: () => Promise<T>,
  limitMs?: number,
): Promise<T> => {
  let over = false;
  const retried = async (): Promise<T> => {
    for (const delayMs of RETRY_DELAYS_MS) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof StoreError) || over) throw error;
        await sleep(deps.clock, delayMs * (0.5 + deps.random()));
        if (over) throw error;
      }
    }
    return call();
  };
  if (limitMs === undefined) return retried();
  try {
    return await limited(deps.clock, limitMs, retried());
  } finally {
    over = true;
  }
};

/**
 * Returns the result of a store call. Throws StoreError `unavailable` if it takes longer than `limitMs`; the call itself
 * continues, so its result is unknown.
 */
export const limited = <T>(clock: Clock, limitMs: number, pending: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () =>
      reject(new StoreError('unavailable', `the store did not reply within ${limitMs} ms`)),
    );
    pending.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });

/** Longest time that the store calls of one request may take before its provider call, in ms (BILL-14). */
const STORE_TIME_MS = 3_000;

/** Time that is left for the store calls of one request before its provider call. */
export class StoreTime {
  readonly #clock: Clock;
  #leftMs = STORE_TIME_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get leftMs(): number {
    return Math.max(0, this.#leftMs);
  }

  /**
   * Makes a call and subtracts its duration. Throws StoreError `unavailable` when no time is left, or after `atMostMs`;
   * the call itself continues, so its result is unknown.
   */
  async spend<T>(call: () => Promise<T>, atMostMs = STORE_TIME_MS): Promise<T> {
    if (this.leftMs === 0) throw new StoreError('unavailable', `no time is left of ${STORE_TIME_MS} ms`);
    const startedAtMs = this.#clock.now();
    try {
      return await limited(this.#clock, Math.min(this.leftMs, atMostMs), call());
    } finally {
      this.#leftMs -= this.#clock.now() - startedAtMs;
    }
  }
}

/** Makes a call within the time of the request. Without a time, there is no limit. */
export const within = <T>(time: StoreTime | undefined, call: () => Promise<T>, atMostMs?: number): Promise<T> =>
  time ? time.spend(call, atMostMs) : call();
