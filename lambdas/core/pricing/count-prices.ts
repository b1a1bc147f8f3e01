/** Pico-USD per unit, by the name of the count. */
export type CountPrices = Readonly<Record<string, bigint>>;

/** Counts that cost as much as `input` and `output` if they have no price of their own. */
const inputCounts: ReadonlySet<string> = new Set([
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'imageInput',
  'cachedImageInput',
  'audioInput',
]);
const outputCounts: ReadonlySet<string> = new Set(['reasoning', 'imageOutput']);

/** Counts that always have a price of the same name. */
const ownCounts: ReadonlySet<string> = new Set([
  'input',
  'output',
  'image',
  'inputImage',
  'firstMegapixel',
  'extraMilliMegapixel',
  'referenceMilliMegapixel',
  'second',
  'character',
]);

/** Counts that this release charges for. */
export const knownCounts: ReadonlySet<string> = new Set([...ownCounts, ...inputCounts, ...outputCounts]);

/** Whether this release charges for the count. */
export const isKnownCount = (count: string): boolean => knownCounts.has(count);

/** Returns the sum of the prompt's token counts in a charge record; undefined if it has none. */
export const inputTokensOf = (usage: Readonly<Record<string, number>>): number | undefined =>
  sumOf(usage, (count) => count === 'input' || inputCounts.has(count));

/** Returns the sum of the output's token counts in a charge record; undefined if it has none. */
export const outputTokensOf = (usage: Readonly<Record<string, number>>): number | undefined =>
  sumOf(usage, (count) => count === 'output' || outputCounts.has(count));

const sumOf = (usage: Readonly<Record<string, number>>, isPart: (count: string) => boolean): number | undefined => {
  const parts = Object.keys(usage).filter(isPart);
  return parts.length === 0 ? undefined : parts.reduce((sum, count) => sum + (usage[count] ?? 0), 0);
};

/** Returns the price of one unit of a count in a charge record, in pico-USD; 0 for a count that is not charged. */
export const priceOfCount = (count: string, prices: CountPrices): bigint => {
  const own = prices[count];
  if (own !== undefined) return own;
  if (inputCounts.has(count)) return prices.input ?? 0n;
  return outputCounts.has(count) ? (prices.output ?? 0n) : 0n;
};

/** Returns the sum of counts times their prices, in pico-USD. */
export const sumOfCounts = (counts: object, prices: CountPrices): bigint =>
  Object.entries(counts).reduce(
    (sum, [count, number]) => (typeof number === 'number' ? sum + BigInt(number) * priceOfCount(count, prices) : sum),
    0n,
  );
