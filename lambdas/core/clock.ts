/** Time as an argument, so that tests own it. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Calls back once after the delay; the answer cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

export const sleep = (clock: Clock, delayMs: number): Promise<void> =>
  delayMs <= 0
    ? Promise.resolve()
    : new Promise((resolve) => {
        clock.after(delayMs, resolve);
      });

/** Undefined when it takes longer; what is under way goes on. For promises that do not reject. */
export const inTime = <T>(clock: Clock, limitMs: number, pending: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(undefined));
    void pending.then((value) => {
      cancel();
      resolve(value);
    });
  });

/** The UTC calendar day, which compares as text. */
export const utcDay = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10);
