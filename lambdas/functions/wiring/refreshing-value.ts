import type { Clock } from '../../core/clock.ts';

/** Value that was read once and can change at its source. */
export interface Refreshing<T> {
  /** Returns the value of the last successful read. */
  current(): T;
  /** Reads the value again, unless a read started within the pause. Never rejects, so callers need not wait. */
  refresh(): Promise<void>;
}

interface Keeping<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** Time of the first value, in Unix ms; by default now. `-Infinity` lets the first `refresh` read. */
  readonly firstReadAtMs?: number;
  /** Least time in ms between the starts of two reads. */
  readonly pauseMs: number;
  /** Called on a failed read. The value does not change. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Keeps a value that is read again in the background. A process can be frozen during a read and continue hours later: a
 * superseded read changes nothing. The pause counts from the start of a read, so a hung read does not block the next
 * one.
 */
export const keepRefreshing = <T>(
  first: T,
  { read, clock, firstReadAtMs = clock.now(), pauseMs, onFailure }: Keeping<T>,
): Refreshing<T> => {
  let kept = first;
  let beganAtMs = firstReadAtMs;
  let turns = 0;
  let last = Promise.resolve();
  const readAgain = async (): Promise<void> => {
    turns += 1;
    const turn = turns;
    try {
      const value = await read();
      if (turn === turns) kept = value;
    } catch (error) {
      if (turn === turns) onFailure(error);
    }
  };
  return {
    current: () => kept,
    refresh: () => {
      // A step of the clock in either direction ends the pause.
      if (Math.abs(clock.now() - beganAtMs) >= pauseMs) {
        beganAtMs = clock.now();
        last = readAgain();
      }
      return last;
    },
  };
};
