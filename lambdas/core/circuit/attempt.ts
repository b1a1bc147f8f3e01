import type { Clock } from '../clock.ts';

/** Undefined when the store gave no answer, for whatever reason: a circuit must never fail the call that it watches over. */
export const attempt = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch {
    return undefined;
  }
};

/** Undefined when it takes longer; what is under way goes on. For promises that do not reject. */
export const inTime = <T>(clock: Clock, limitMs: number, pending: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(undefined));
    void pending.then((value) => {
      cancel();
      resolve(value);
    });
  });
