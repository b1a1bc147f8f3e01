import type { Clock } from '../../core/clock.ts';

/** Something that was read once and may change where it was read from. */
export interface Refreshing<T> {
  /** As it was read last. */
  current(): T;
  /** Reads the value again, unless a read started within the pause. Never rejects; callers need not wait. */
  refresh(): Promise<void>;
}

interface Keeping<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** Between two beginnings. */
  readonly pauseMs: number;
  /** Called on a failed read. The value does not change. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Keeps a value that is read again in the background. A process may be frozen during a read and continue hours later:
 * an overtaken read changes nothing, and the pause counts from the start of a read, so that a read without an end does
 * not block the next.
 */
export const keepRefreshing = <T>(first: T, { read, clock, pauseMs, onFailure }: Keeping<T>): Refreshing<T> => {
  let kept = first;
  let beganAtMs = clock.now();
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
      if (clock.now() - beganAtMs >= pauseMs) {
        beganAtMs = clock.now();
        last = readAgain();
      }
      return last;
    },
  };
};
