import type { ChargeRecord } from '../ledger/charge-record.ts';

const promptCounts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const;
const answerCounts = ['output', 'reasoning'] as const;
/** What videos are sold by where their vendor counts no tokens. */
const otherCounts = ['second'] as const;
const knownCounts: ReadonlySet<string> = new Set([...promptCounts, ...answerCounts, ...otherCounts]);

/**
 * What the counts and prices of a record come to, in pico-USD; undefined where they do not say: counts that could not be true were
 * charged at a bound (BILL-7), and other things than tokens and seconds have rules of their own.
 */
export const recordedAmount = ({ usage, prices, implausible }: ChargeRecord): bigint | undefined => {
  if (!usage || !prices || implausible) return undefined;
  if (![...Object.keys(usage), ...Object.keys(prices)].every((name) => knownCounts.has(name))) return undefined;
  const priced = (counts: readonly string[], fallback: string): bigint =>
    counts.reduce((sum, name) => sum + BigInt(usage[name] ?? 0) * (prices[name] ?? prices[fallback] ?? 0n), 0n);
  return priced(promptCounts, 'input') + priced(answerCounts, 'output') + priced(otherCounts, 'second');
};
