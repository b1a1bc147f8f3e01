import type { MonotonicClock } from './clock.ts';

/** Interval in ms at which a process looks at its clocks. */
export const LOOK_EVERY_MS = 500;

/** Time in ms between two looks of a process that did not run in between. */
const GAP_MS = 2_000;

/**
 * Pauses of this process: it was stopped, its machine was suspended, its execution environment was frozen, or its event
 * loop was blocked. `look` must run every `LOOK_EVERY_MS`.
 */
export class ProcessPauses {
  readonly #clock: MonotonicClock;
  #lookedAt: { readonly nowMs: number; readonly monotonicMs: number };
  #count = 0;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
    this.#lookedAt = this.#times();
  }

  /** Notes a pause since the previous look. */
  look(): void {
    const before = this.#lookedAt;
    this.#lookedAt = this.#times();
    // On some systems the monotonic clock does not count the sleep of the machine, but the other one does.
    const passedMs = Math.max(this.#lookedAt.monotonicMs - before.monotonicMs, this.#lookedAt.nowMs - before.nowMs);
    if (passedMs > GAP_MS) this.#count += 1;
  }

  /** Returns a function that reports whether the process has paused since this call. */
  watch(): () => boolean {
    this.look();
    const before = this.#count;
    return () => {
      // A late timer can run before the next regular look.
      this.look();
      return this.#count > before;
    };
  }

  #times(): { readonly nowMs: number; readonly monotonicMs: number } {
    return { nowMs: this.#clock.now(), monotonicMs: this.#clock.monotonicMs() };
  }
}
