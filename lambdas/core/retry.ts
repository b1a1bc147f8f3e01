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
export const retryUntilDefinite = <T>(
  deps: RetryDependencies,
  call: () => Promise<T>,
  limitMs?: number,
): Promise<T> => {
  if (limitMs === undefined) return retried(deps, call, () => false);
  let isOver = false;
  return limited(
    deps.clock,
    limitMs,
    retried(deps, call, () => isOver),
    () => (isOver = true),
  );
};

const retried = async <T>(deps: RetryDependencies, call: () => Promise<T>, isOver: () => boolean): Promise<T> => {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError) || isOver()) throw error;
      await sleep(deps.clock, delayMs * (0.5 + deps.random()));
      if (isOver()) throw error;
    }
  }
  return call();
};

/**
 * Returns the result of a store call. Throws StoreError `unavailable` if it takes longer than `limitMs`; the call itself
 * continues, so its result is unknown. Calls `onEnd` once, when the wait ends.
 */
export const limited = <T>(
  clock: Clock,
  limitMs: number,
  pending: Promise<T>,
  onEnd: () => void = () => undefined,
): Promise<T> =>
  new Promise((resolve, reject) => {
    let isLate = false;
    const cancel = clock.after(limitMs, () => {
      isLate = true;
      onEnd();
      reject(new StoreError('unavailable', `the store did not reply within ${limitMs} ms`));
    });
    const end = (): void => {
      if (isLate) return;
      cancel();
      onEnd();
    };
    pending.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
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
   * Makes a call, which may reject but not throw, and subtracts its duration. Throws StoreError `unavailable` when no time is left, or after `atMostMs`;
   * the call itself continues, so its result is unknown.
   */
  spend<T>(call: () => Promise<T>, atMostMs = STORE_TIME_MS): Promise<T> {
    if (this.leftMs === 0)
      return Promise.reject(new StoreError('unavailable', `no time is left of ${STORE_TIME_MS} ms`));
    const startedAtMs = this.#clock.now();
    const subtract = (): void => {
      this.#leftMs -= this.#clock.now() - startedAtMs;
    };
    return limited(this.#clock, Math.min(this.leftMs, atMostMs), call(), subtract);
  }
}

/** Makes a call within the time of the request. Without a time, there is no limit. */
export const within = <T>(time: StoreTime | undefined, call: () => Promise<T>, atMostMs?: number): Promise<T> =>
  time ? time.spend(call, atMostMs) : call();
