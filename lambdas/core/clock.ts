/** Source of time, passed as an argument so that tests can control it. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Calls `callback` once after the delay. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Times of a process. `monotonicMs` counts from any start, and no change of the system's time affects it. */
export interface MonotonicClock extends Pick<Clock, 'now'> {
  monotonicMs(): number;
}

export const sleep = (clock: Clock, delayMs: number): Promise<void> =>
  delayMs <= 0
    ? Promise.resolve()
    : new Promise((resolve) => {
        clock.after(delayMs, resolve);
      });

/**
 * Returns the result of a promise; undefined if it takes longer than `limitMs`, while its work continues. The promise
 * must not reject.
 */
export const inTime = <T>(clock: Clock, limitMs: number, pending: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(undefined));
    void pending.then((value) => {
      cancel();
      resolve(value);
    });
  });

/**
 * Whether a stored time is still ahead. `longestMs` is how far ahead it was at most when it was stored. A time further
 * ahead comes from a clock that was ahead. It counts as over, because otherwise it would last for the whole difference.
 */
export const isAhead = (untilMs: number, nowMs: number, longestMs: number): boolean =>
  untilMs > nowMs && untilMs <= nowMs + longestMs;

const DAY_MS = 86_400_000;

/** The day of the latest call, because nearly all calls are for the same day. */
let latest = { number: Number.NaN, text: '' };

/** Returns the UTC calendar day as text. Comparing two of these texts compares the days. */
export const utcDay = (nowMs: number): string => {
  const number = Math.floor(nowMs / DAY_MS);
  if (number !== latest.number) latest = { number, text: new Date(nowMs).toISOString().slice(0, 10) };
  return latest.text;
};
