/** A provider's model, the thing that fails as one. */
export interface CircuitId {
  readonly providerId: string;
  /** The catalog's id. */
  readonly modelId: string;
}

/** Why no call may go out. */
export type CallRejection =
  /** The circuit is open, or half open and another request is probing. */
  | { readonly kind: 'open'; readonly retryAfterSeconds: number }
  /** Too many good answers came without usage (BILL-10). */
  | { readonly kind: 'quarantined' };

/** Permission for one provider call. Only the first `report` counts. No method throws. */
export interface CallPermit {
  readonly kind: 'permit';
  /**
   * `failed`: GatewayError.upstreamFailed. `succeeded`: the provider responded, even if it rejected this request.
   * `unknown`: the call was not made, or ended for another reason.
   */
  report(outcome: 'succeeded' | 'failed' | 'unknown'): Promise<void>;
  /** Reports that a stream has started. A probe has then succeeded, and does not wait for the end of its stream. */
  started(): Promise<void>;
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
  /** A good answer came without usage: counted, shared, and from the 20th in 5 minutes the model is shut for 15. Never throws. */
  usageMissing(modelId: string): Promise<void>;
}

/** When a circuit opens; the rest of its rules have no settings. */
export interface CircuitSettings {
  /** Failures in a row that open the circuit of one process. */
  readonly failures: number;
  /** Calls in the shared window from which on their ratio says something. */
  readonly calls: number;
  /** How long a circuit is open at first. */
  readonly openMs: number;
}

export const circuitDefaults: CircuitSettings = { failures: 5, calls: 10, openMs: 30_000 };

/** A circuit that is open until its time has come, and half open from then on. */
export interface Opening {
  readonly openUntilMs: number;
  /** How often it has opened since it was closed, this time included. */
  readonly openings: number;
  /** Probes that succeeded since it opened. */
  readonly goodProbes: number;
}

export type Outcome = 'succeeded' | 'failed' | 'unknown';

const GOOD_PROBES = 3;

/** 30 s, then 60, 120 and 300 with the default. */
const FACTORS = [1, 2, 4];

const LAST_FACTOR = 10;

export const openedAgain = (before: Opening | undefined, nowMs: number, { openMs }: CircuitSettings): Opening => {
  const openings = (before?.openings ?? 0) + 1;
  return { openUntilMs: nowMs + openMs * (FACTORS[openings - 1] ?? LAST_FACTOR), openings, goodProbes: 0 };
};

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

/** ERR-2: whole seconds, 1 to 300. */
export const retryAfterSeconds = (untilMs: number, nowMs: number): number =>
  Math.min(300, Math.max(1, Math.ceil((untilMs - nowMs) / 1_000)));
