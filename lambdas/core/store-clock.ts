import type { Clock } from './clock.ts';

/** Difference from the store's clock up to which the own clock counts, in ms. A measurement can be wrong by 3 s. */
const OWN_MS_MAX = 5_000;
/** Difference between two measurements that can be the error of both, in ms. */
const ERROR_MS_MAX = 3_000;
/** Longest reply that says enough about the store's clock, in ms. */
const REPLY_MS_MAX = 5_000;
/** A `Date` header has whole seconds, so the middle of the second is assumed, in ms. */
const HALF_SECOND_MS = 500;

/** Difference from the store's clock above which a process reports its clock and does not sweep (GEN-10, BILL-13), in ms. */
export const SKEW_MS_MAX = 60_000;

/** Clock of a process, corrected by that of the store. All processes write and compare stored times by it. */
export interface StoreClock extends Clock {
  /** Time of this process minus that of the store, in ms. 0 if they agree within the error of a measurement. */
  skewMs(): number;
  learn(skewMs: number): void;
  /** Starts a measurement by a call of the store. The returned function gets the `Date` header of its reply. */
  startSample(): (date: string | undefined) => void;
}

export interface StoreClockOptions {
  readonly own: Clock;
  /** Time that no step of the clock changes, in ms. */
  readonly monotonicMs: () => number;
  /** Called when the clock gets too far from the store's. Must not throw. */
  readonly onProblem?: ((problem: string) => void) | undefined;
}

export const createStoreClock = ({ own, monotonicMs, onProblem }: StoreClockOptions): StoreClock => {
  let skewMs = 0;
  const learn = (measuredMs: number): void => {
    if (Math.abs(measuredMs - skewMs) <= ERROR_MS_MAX) return;
    const before = skewProblemOf(skewMs);
    // Stored times are whole milliseconds.
    skewMs = Math.abs(measuredMs) <= OWN_MS_MAX ? 0 : Math.round(measuredMs);
    const problem = skewProblemOf(skewMs);
    if (problem !== undefined && before === undefined) onProblem?.(problem);
  };
  return {
    now: () => own.now() - skewMs,
    after: (delayMs, callback) => own.after(delayMs, callback),
    skewMs: () => skewMs,
    learn,
    startSample: () => {
      const sent = { ownMs: own.now(), monotonicMs: monotonicMs() };
      return (date) => {
        const storeMs = date === undefined ? Number.NaN : Date.parse(date);
        const nowMs = own.now();
        const replyMs = monotonicMs() - sent.monotonicMs;
        // After a step of the clock or a suspended process, the reply says nothing about the present difference.
        const isSteady = Math.abs(nowMs - sent.ownMs - replyMs) <= HALF_SECOND_MS;
        if (Number.isNaN(storeMs) || replyMs > REPLY_MS_MAX || !isSteady) return;
        learn(nowMs - replyMs / 2 - (storeMs + HALF_SECOND_MS));
      };
    },
  };
};

/** Names a difference that is too large; undefined if it is not. */
export const skewProblemOf = (skewMs: number): string | undefined => {
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return undefined;
  return `the clock of this process is ${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the store`;
};
