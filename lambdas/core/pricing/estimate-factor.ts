/**
 * Factor on the estimate of prompt tokens of an account, as its API key item stores it after an overage (BILL-20).
 * Without one, the factor is 1.
 */
export interface StoredFactor {
  /** 1 to 4, in tenths. */
  readonly factor: number;
  /** Unix ms of the overage. The factor decays from then on. */
  readonly atMs: number;
}

/** Factor of the caller's account at the time of a request. */
export interface EstimateFactor {
  /** 1 to 4, in hundredths. */
  readonly value: number;
  /** Stores a higher factor for later requests. Best effort: waits for a short time and never rejects. */
  readonly raise: (factor: number) => Promise<void>;
}

const FACTOR_MAX = 4;

/** Time in which the part above 1 halves, in ms. */
const HALF_LIFE_MS = 86_400_000;

/** Part above 1 that no longer counts. It ends the decay. */
const REST = 0.05;

const clamp = (factor: number): number => Math.min(Math.max(factor, 1), FACTOR_MAX);

/** Returns the present factor in hundredths: the part above 1 halves each day, and a small rest is dropped. */
export const factorAt = (stored: StoredFactor | undefined, nowMs: number): number => {
  if (!stored) return 1;
  const ageMs = Math.max(0, nowMs - stored.atMs);
  const above = (clamp(stored.factor) - 1) * 2 ** (-ageMs / HALF_LIFE_MS);
  return above < REST ? 1 : Math.round((1 + above) * 100) / 100;
};

/**
 * Returns the factor that would have covered a prompt, rounded up to tenths. The rounding covers similar prompts, whose
 * counts differ a little.
 */
export const factorFor = (countedTokens: number, estimatedTokens: number): number =>
  clamp(Math.ceil((countedTokens * 10) / Math.max(estimatedTokens, 1)) / 10);
