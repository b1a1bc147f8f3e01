/**
 * Returns a generator of numbers from 0 up to 1, excluding 1. The seed determines the sequence. D. H. Lehmer's
 * generator modulo 2^31 - 1, with the factor of Park and Miller (1988).
 */
export const numbersFrom = (seed: number): (() => number) => {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
};
