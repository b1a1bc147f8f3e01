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
