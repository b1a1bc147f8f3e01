import type { Clock } from '../../core/clock.ts';

/** Something that was read once and may change where it was read from. */
export interface Refreshing<T> {
  /** As it was read last. */
  current(): T;
  /** Reads it again unless that was begun within the pause. Never rejects, and nobody needs to wait for it. */
  refresh(): Promise<void>;
}

interface Keeping<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** Between two beginnings. */
  readonly pauseMs: number;
  /** What is kept stays as it is. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * A process may be frozen in the middle of a read and go on hours later: a read that was overtaken changes nothing, and a pause is
 * counted from a read's beginning, so that one without an end keeps nobody from the next.
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
