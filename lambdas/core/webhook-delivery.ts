/** Result of one attempt to deliver a webhook. Without a `problem` the server has accepted it. */
export interface DeliveryResult {
  /** HTTP status of the server. Undefined without a response. */
  readonly status: number | undefined;
  /** Why the attempt failed, as a sentence without the URL and without a secret. */
  readonly problem: string | undefined;
}

/** Attempts to deliver one event so far. */
export interface DeliveryState {
  /** At least 1. */
  readonly attempts: number;
  /** Unix ms at which the last attempt ended. */
  readonly lastAtMs: number;
  /** Status and problem of the last attempt, as in `DeliveryResult`. */
  readonly status?: number | undefined;
  readonly problem?: string | undefined;
  /** Unix ms at which the next attempt starts at the latest. Undefined after the last one. */
  readonly nextAtMs?: number | undefined;
}

/** Schedule of the attempts. The step `Notify` of the state machine has the same numbers. */
export const DELIVERY_ATTEMPTS_MAX = 5;
export const DELIVERY_BACKOFF = 3;
export const DELIVERY_WAIT_MS_MAX = 3_600_000;

export const isDelivered = ({ problem }: DeliveryState): boolean => problem === undefined;

export interface DeliveryTimes {
  readonly nowMs: number;
  /** Longest wait before the second attempt, in ms. */
  readonly retryMs: number;
}

/** Returns the state after one more attempt. */
export const afterAttempt = (
  before: DeliveryState | undefined,
  { status, problem }: DeliveryResult,
  { nowMs, retryMs }: DeliveryTimes,
): DeliveryState => {
  const attempts = (before?.attempts ?? 0) + 1;
  const waitMs = Math.min(DELIVERY_WAIT_MS_MAX, retryMs * DELIVERY_BACKOFF ** (attempts - 1));
  return {
    attempts,
    lastAtMs: nowMs,
    ...(status === undefined ? {} : { status }),
    ...(problem === undefined ? {} : { problem }),
    ...(problem === undefined || attempts >= DELIVERY_ATTEMPTS_MAX ? {} : { nextAtMs: nowMs + waitMs }),
  };
};
