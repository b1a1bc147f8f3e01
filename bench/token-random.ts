export interface Random {
  fraction(): number;
  below(limit: number): number;
  pick<Item>(from: readonly Item[]): Item;
}

/** Returns a generator of numbers that depend only on the seed: Marsaglia's xorshift with 32 bits. */
export const randomOf = (seed: number): Random => {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
  const fraction = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    pick: (from) => {
      const item = from[below(from.length)];
      if (item === undefined) throw new Error('The list is empty.');
      return item;
    },
  };
};
