import type { Clock } from '../core/clock.ts';
import { RecentMap } from '../core/recent-map.ts';
import type { Steps } from './json-body.ts';

/** Time in ms after which other requests of the process have their turn. */
const TURN_MS = 5;
/** Time in ms that an owner can use without pauses. Half of it is forgotten in `FORGOTTEN_MS`. */
const FREE_MS = 250;
const FORGOTTEN_MS = 5_000;
const OWNERS_MAX = 10_000;

interface Job {
  readonly owners: readonly string[];
  /** Returns whether the work is complete. */
  readonly step: () => boolean;
}

/** Time that an owner has used, as of a time. */
interface Use {
  readonly ms: number;
  readonly atMs: number;
}

/**
 * Shares the time of this process between large bodies and all other requests (GEN-17). One body is read at a time, in
 * turns of a few milliseconds. The next turn belongs to the body whose owners have used the least. An owner that has
 * used much waits after each turn for as long as the turn took, so that others have half of the time.
 */
export class BodyTurns {
  readonly #clock: Clock;
  readonly #jobs = new Set<Job>();
  readonly #uses = new RecentMap<Use>(OWNERS_MAX);
  #isBusy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs the steps of one body. Throws what they throw. */
  run<Result>(owners: readonly string[], steps: Steps<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const step = (): boolean => {
        try {
          const next = steps.next();
          if (next.done) resolve(next.value);
          return next.done ?? false;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      this.#jobs.add({ owners, step });
      if (!this.#isBusy) this.#next();
    });
  }

  #next(): void {
    const [first, ...others] = this.#jobs;
    this.#isBusy = first !== undefined;
    if (!first) return;
    const job = others.reduce((least, other) => (this.#used(other) < this.#used(least) ? other : least), first);
    const beganAtMs = this.#clock.now();
    let isDone = false;
    while (!isDone && this.#since(beganAtMs) < TURN_MS) isDone = job.step();
    if (isDone) this.#jobs.delete(job);
    // The request continues with its checks before the timer, so the turn includes them.
    this.#clock.after(0, () => {
      const tookMs = this.#since(beganAtMs);
      this.#charge(job, tookMs);
      if (this.#used(job) <= FREE_MS) this.#next();
      else this.#clock.after(tookMs, () => this.#next());
    });
  }

  #charge({ owners }: Job, ms: number): void {
    for (const owner of owners) this.#uses.set(owner, { ms: this.#usedBy(owner) + ms, atMs: this.#clock.now() });
  }

  /** An account has time of its own, so that it does not wait for all that its client IP used. */
  #used({ owners }: Job): number {
    return owners.reduce((sum, owner) => sum + this.#usedBy(owner), 0);
  }

  #usedBy(owner: string): number {
    const use = this.#uses.get(owner);
    return use === undefined ? 0 : use.ms * 0.5 ** (this.#since(use.atMs) / FORGOTTEN_MS);
  }

  /** The clock can be set back. */
  #since(atMs: number): number {
    return Math.max(0, this.#clock.now() - atMs);
  }
}
