/** From 0 up to 1, the same ones for the same seed: D. H. Lehmer's generator modulo 2^31 - 1, factor of Park and Miller (1988). */
export const numbersFrom = (seed: number): (() => number) => {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
};
