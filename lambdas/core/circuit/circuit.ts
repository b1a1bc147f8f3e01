/** A provider's model, the thing that fails as one. */
export interface CircuitId {
  readonly providerId: string;
  /** The catalog's id. */
  readonly modelId: string;
}

/** Why no call may go out. */
export type CallRejection =
  /** The circuit is open, or half open and somebody else is probing. */
  | { readonly kind: 'open'; readonly retryAfterSeconds: number }
  /** Too many good answers came without usage (BILL-10). */
  | { readonly kind: 'quarantined' };

/** The right to make one call. How the call went is told once; later words change nothing. None of these ever throws. */
export interface CallPermit {
  readonly kind: 'permit';
  /**
   * `failed`: GatewayError.upstreamFailed. `succeeded`: the vendor answered, were it with a refusal of this request.
   * `unknown`: the call was not made, or ended for a reason of ours.
   */
  report(outcome: 'succeeded' | 'failed' | 'unknown'): Promise<void>;
  /** A streamed answer has begun. A probe has then shown what it was sent for, and keeps nobody waiting for the end of its stream. */
  started(): Promise<void>;
}

export interface Circuits {
  /**
   * What this process knows, at once: undefined when nothing is known against a call. Begins to look up the shared state when what
   * is known is older than 5 s, so that `enter` need not wait for it.
   */
  peek(key: CircuitId, accountId: string): CallRejection | undefined;
  /** Just before dispatch: waits for a look-up that was begun, 50 ms at most, and takes the probe's lease of a half-open circuit. */
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

/** What a probe makes of a half-open circuit: undefined when it closes. */
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
