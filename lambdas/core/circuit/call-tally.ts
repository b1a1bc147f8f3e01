import type { Clock } from '../clock.ts';
import { attempt } from './attempt.ts';
import type { CircuitStore } from './circuit-store.ts';
import type { CircuitKey } from './circuits.ts';
import { SharedRun } from './shared-run.ts';
import { bucketExpiry, windowStarts } from './window.ts';

/** Successes older than this say nothing about the present bucket. */
const SUCCESSES_KEPT_MS = 15_000;
const ACCOUNTS_TOLD = 2;

/**
 * The calls of this process that the shared window has not heard of. Successes are always counted here, in memory, and go out only
 * together with a failure or while the window is known to hold one. Were they counted only from the first failure on, a few failures
 * among thousands of calls a second would look like half of them. What a store does not take is dropped, both kinds together.
 */
export class CallTally {
  readonly #clock: Clock;
  readonly #sends: SharedRun<boolean>;
  #successes = 0;
  #sinceMs = 0;
  #failures = 0;
  readonly #accounts = new Set<string>();

  /** `accountsKnown`: how many accounts the bucket that begins then is known to name. */
  constructor(store: CircuitStore, clock: Clock, key: CircuitKey, accountsKnown: (startMs: number) => number) {
    this.#clock = clock;
    this.#sends = new SharedRun(async () => {
      const [startMs] = windowStarts(clock.now());
      const accounts = accountsKnown(startMs) >= ACCOUNTS_TOLD ? [] : [...this.#accounts].slice(0, ACCOUNTS_TOLD);
      this.#forgetStale();
      const added = { startMs, failures: this.#failures, successes: this.#successes, accounts };
      this.#failures = 0;
      this.#accounts.clear();
      this.dropSuccesses();
      if (added.failures + added.successes === 0) return true;
      const sent = await attempt(async () => {
        await store.count(key, added, bucketExpiry(startMs));
        return true;
      });
      return sent ?? false;
    });
  }

  addSuccess(): void {
    this.#forgetStale();
    if (this.#successes === 0) this.#sinceMs = this.#clock.now();
    this.#successes += 1;
  }

  addFailure(account: string): void {
    this.#failures += 1;
    this.#accounts.add(account);
  }

  dropSuccesses(): void {
    this.#successes = 0;
  }

  /** Whether the store took what there was to send. */
  send(): Promise<boolean> {
    return this.#sends.request();
  }

  #forgetStale(): void {
    if (this.#clock.now() - this.#sinceMs > SUCCESSES_KEPT_MS) this.dropSuccesses();
  }
}
