import type { ChargeRecord } from '../ledger/charge-record.ts';

/** Those without a price of their own cost what text costs. */
const promptCounts = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'imageInput',
  'cachedImageInput',
  'audioInput',
] as const;
const answerCounts = ['output', 'reasoning', 'imageOutput'] as const;
/** What else is sold, each by a price of its own name. */
const otherCounts = [
  'image',
  'inputImage',
  'firstMegapixel',
  'extraMilliMegapixel',
  'referenceMilliMegapixel',
  'second',
  'character',
] as const;
const knownCounts: ReadonlySet<string> = new Set([...promptCounts, ...answerCounts, ...otherCounts]);

/**
 * What the counts and prices of a record come to, in pico-USD; undefined where they do not say: counts that could not be true were
 * charged at a bound (BILL-7).
 */
export const recordedAmount = ({ usage, prices, implausible }: ChargeRecord): bigint | undefined => {
  if (!usage || !prices || implausible) return undefined;
  if (![...Object.keys(usage), ...Object.keys(prices)].every((name) => knownCounts.has(name))) return undefined;
  const priced = (counts: readonly string[], otherwise = 0n): bigint =>
    counts.reduce((sum, name) => sum + BigInt(usage[name] ?? 0) * (prices[name] ?? otherwise), 0n);
  return priced(promptCounts, prices.input) + priced(answerCounts, prices.output) + priced(otherCounts);
};
