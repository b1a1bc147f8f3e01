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
 * jitter. Throws the last StoreError.
 */
export const retryUntilDefinite = async <T>(deps: RetryDependencies, call: () => Promise<T>): Promise<T> => {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await sleep(deps.clock, delayMs * (0.5 + deps.random()));
    }
  }
  return call();
};
