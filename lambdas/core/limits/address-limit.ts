import type { Clock } from '../clock.ts';
import { StoreError } from '../errors/store-error.ts';
import type { Bucket } from './gcra.ts';
import { ProcessBuckets } from './process-buckets.ts';

/** The shared bucket of an address. Throws StoreError; `throttled` means that this very item is flooded. */
export interface AddressCounters {
  take(address: string, bucket: Bucket, nowMicros: number): Promise<boolean>;
}

const ABANDONED_AFTER_MS = 50;
const FAILURES_BEFORE_PAUSE = 3;
const PAUSE_MS = 5_000;

/**
 * LIM-1 and LIM-4: the process's bucket is asked first and alone; then the shared one, which is given 50 ms.
 * After three failures in a row it is left alone for 5 s, and the process's verdict stands.
 */
export class AddressLimit {
  readonly #bucket: Bucket;
  readonly #counters: AddressCounters;
  readonly #clock: Clock;
  readonly #local: ProcessBuckets;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(bucket: Bucket, counters: AddressCounters, clock: Clock) {
    this.#bucket = bucket;
    this.#counters = counters;
    this.#clock = clock;
    this.#local = new ProcessBuckets(bucket);
  }

  /** False when the process's own bucket is empty; nothing is asked of a store then. */
  takeLocal(address: string): boolean {
    return this.#local.take(address, this.#clock.now() * 1_000).allowed;
  }

  async takeShared(address: string): Promise<boolean> {
    if (this.#clock.now() < this.#pausedUntilMs) return true;
    try {
      const allowed = await this.#abandoned(this.#counters.take(address, this.#bucket, this.#clock.now() * 1_000));
      this.#failures = 0;
      return allowed;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind === 'throttled') return false;
      this.#failures += 1;
      if (this.#failures >= FAILURES_BEFORE_PAUSE) {
        this.#failures = 0;
        this.#pausedUntilMs = this.#clock.now() + PAUSE_MS;
      }
      return true;
    }
  }

  #abandoned(pending: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ABANDONED_AFTER_MS, () =>
        reject(new StoreError('unavailable', 'the address counter did not answer in time')),
      );
      pending.then(resolve, reject).finally(cancel);
    });
  }
}
