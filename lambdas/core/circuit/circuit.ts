import { isAhead } from '../clock.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';

/** Identifies a circuit, which covers one model at one provider. */
export interface CircuitId {
  readonly providerId: string;
  /** Model id of the catalog. */
  readonly modelId: string;
}

/** Reason why a call is not allowed. */
export type CallRejection =
  /** The circuit is open, or half open and another request is probing. */
  | { readonly kind: 'open'; readonly retryAfterSeconds: number }
  /** Too many successful responses had no usage (BILL-10). */
  | { readonly kind: 'quarantined' };

/**
 * Permission for one provider call. Only the first `report` counts. No method throws, and no returned promise rejects.
 * A method returns undefined if there is nothing to wait for.
 */
export interface CallPermit {
  readonly kind: 'permit';
  report(outcome: Outcome): Promise<void> | undefined;
  /** Reports that a stream has started. A probe then counts as successful, however its stream ends. */
  started(): Promise<void> | undefined;
}

export interface Circuits {
  /**
   * Returns the known rejection without waiting; undefined if a call is allowed. Starts a refresh of the shared state
   * if the known state is older than 5 s, so that `acquire` does not wait for it.
   */
  peek(key: CircuitId, accountId: string): CallRejection | undefined;
  /**
   * Runs just before dispatch. Waits at most 50 ms for a running refresh, and takes the probe's lease of a half-open
   * circuit.
   */
  acquire(
    key: CircuitId,
    caller: { readonly accountId: string; readonly requestId: string },
  ): Promise<CallPermit | CallRejection>;
  /**
   * Counts a successful response without usage in the shared state. The 20th within 5 minutes disables the model for 15
   * minutes, if they are of at least two accounts. Never throws.
   */
  usageMissing(modelId: string, accountId: string): Promise<void>;
}

/** Conditions that open a circuit. Its other rules have no settings. */
export interface CircuitSettings {
  /** Number of consecutive failures that open the circuit of one process. */
  readonly failures: number;
  /** Minimum number of calls in the shared window before their failure ratio counts. */
  readonly calls: number;
  /** Duration of the first opening, in ms. */
  readonly openMs: number;
}

export const circuitDefaults: CircuitSettings = { failures: 5, calls: 10, openMs: 30_000 };

/** A circuit that is open until a time, and half open from then on. */
export interface Opening {
  readonly openUntilMs: number;
  /** Number of times it has opened since it was closed, including this time. */
  readonly openings: number;
  /** Successful probes since it opened. */
  readonly goodProbes: number;
}

/**
 * `succeeded`: the provider responded, even if it rejected this request. `failed`: GatewayError.upstreamFailed.
 * `timed_out`: the provider did not respond in time, which a long request can cause, so it counts once per account.
 * `unknown`: the call was not made, or ended for a reason that a client or this machine can cause.
 */
export type Outcome = 'succeeded' | 'failed' | 'timed_out' | 'unknown';

const GOOD_PROBES = 3;

/**
 * Factors on `openMs` for the first three openings. With the default the circuit is open for 30 s, then 60 s, 120 s,
 * and 300 s from the fourth opening on.
 */
const FACTORS = [1, 2, 4];

const LAST_FACTOR = 10;

export const openedAgain = (before: Opening | undefined, nowMs: number, { openMs }: CircuitSettings): Opening => {
  const openings = (before?.openings ?? 0) + 1;
  return { openUntilMs: nowMs + openMs * (FACTORS[openings - 1] ?? LAST_FACTOR), openings, goodProbes: 0 };
};

/** Whether a circuit is open. An opening that is too far ahead was stored with a wrong clock, and is over. */
export const isOpenUntil = (openUntilMs: number, nowMs: number, { openMs }: CircuitSettings): boolean =>
  isAhead(openUntilMs, nowMs, openMs * LAST_FACTOR + SKEW_MS_MAX);

/** Outcome of a probe. */
export type ProbeOutcome = Exclude<Outcome, 'timed_out'>;

/** Outcome of a probe for all accounts. The timeout of one account does not decide about it. */
export const outcomeForAll = (outcome: Outcome): ProbeOutcome => (outcome === 'timed_out' ? 'unknown' : outcome);

/** State of a half-open circuit after a probe; undefined if it closes. */
export const afterProbe = (
  before: Opening,
  outcome: 'succeeded' | 'failed',
  nowMs: number,
  settings: CircuitSettings,
): Opening | undefined => {
  if (outcome === 'failed') return openedAgain(before, nowMs, settings);
  const goodProbes = before.goodProbes + 1;
  return goodProbes < GOOD_PROBES ? { ...before, goodProbes } : undefined;
};

/** Returns whole seconds from 1 to 300 (ERR-2). */
export const retryAfterSeconds = (untilMs: number, nowMs: number): number =>
  Math.min(300, Math.max(1, Math.ceil((untilMs - nowMs) / 1_000)));
