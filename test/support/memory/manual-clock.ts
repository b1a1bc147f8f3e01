import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../lambdas/core/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Clock that moves only when a test moves it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #timers: Timer[] = [];

  constructor(startMs = Date.UTC(2026, 10, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Number of timers that have neither run nor been canceled. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Lets everything that waits only for promises run as far as it can. */
  async flush(): Promise<void> {
    await nextTurn();
  }

  /** Moves the time and runs each timer at its due time, in order. Includes timers that other timers start. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.flush();
    for (let next = this.#next(); next && next.dueMs <= endMs; next = this.#next()) await this.#run(next);
    this.#nowMs = endMs;
  }

  /** Moves the time without running timers, as when the process is suspended. */
  skip(ms: number): void {
    this.#nowMs += ms;
  }

  /** Moves from timer to timer until the promise settles. Returns the promise. Any other value is settled. */
  async until<T>(pending: Promise<T> | T): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    Promise.resolve(pending).then(mark, mark);
    await this.flush();
    for (let next = this.#next(); !settled && next; next = this.#next()) await this.#run(next);
    return pending;
  }

  #next(): Timer | undefined {
    return this.#timers.toSorted((one, other) => one.dueMs - other.dueMs)[0];
  }

  async #run(timer: Timer): Promise<void> {
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    timer.callback();
    await this.flush();
  }
}
