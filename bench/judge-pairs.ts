import { median, quantile } from './measure.ts';

/** Ratio of the gateway's CPU time to the bare proxy's, for one kind of request. */
export interface Summary {
  /** Median of the pairs. */
  readonly ratio: number;
  /** Interquartile range of the pairs, as a share of their median. */
  readonly spread: number;
  readonly pairs: number;
  /** Share of the two cores that other processes used. They slow the bare proxy more than the gateway. */
  readonly others: number;
}

export const PAIRS_MIN = 9;
export const SPREAD_MAX = 0.2;
export const OTHERS_MAX = 0.1;
const WORSE_MAX = 1.15;

export const summarize = (ratios: readonly number[], others: number): Summary => {
  const ratio = median(ratios);
  const spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / ratio;
  return { ratio, spread, pairs: ratios.length, others };
};

/** Returns why a ratio that is 15 % worse would prove nothing, or undefined. */
export const doubtOf = ({ spread, pairs, others }: Summary): string | undefined => {
  if (pairs < PAIRS_MIN) return `${pairs} pairs, ${PAIRS_MIN} are needed`;
  if (spread > SPREAD_MAX) return `the spread is ${spread.toFixed(2)}, above ${SPREAD_MAX}`;
  return others > OTHERS_MAX ? `other processes use ${others.toFixed(2)} of the cores, above ${OTHERS_MAX}` : undefined;
};

export interface Judgement {
  readonly verdict: 'passed' | 'slower' | 'skipped';
  readonly reason: string;
}

/** Compares the ratio of this code with the ratio of the last release. */
export const judgePairs = (now: Summary, released: Summary): Judgement => {
  const doubt = doubtOf(now);
  if (doubt !== undefined) return { verdict: 'skipped', reason: doubt };
  const doubtThen = doubtOf(released);
  if (doubtThen !== undefined) return { verdict: 'skipped', reason: `in the last release, ${doubtThen}` };
  const change = now.ratio / released.ratio;
  return {
    verdict: change > WORSE_MAX ? 'slower' : 'passed',
    reason: `ratio ${now.ratio.toFixed(2)}, ${released.ratio.toFixed(2)} in the last release: ${change.toFixed(2)} of it`,
  };
};
