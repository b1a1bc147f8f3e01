import { describe, expect, it } from 'vitest';
import { doubtOf, judgePairs, type Summary, summarize } from '../../bench/judge-pairs.ts';

/** Fifteen pairs around a ratio that differ by up to a share of it, in both directions. */
const around = (ratio: number, share = 0.05): readonly number[] =>
  Array.from({ length: 15 }, (_, index) => ratio * (1 + (share * (index - 7)) / 7));

const released = summarize(around(4), 0);

describe('judgement of pairs', () => {
  it.each([
    ['equal pairs', 'passed', summarize(around(4), 0.1)],
    ['pairs that are twice as fast', 'passed', summarize(around(2), 0)],
    ['pairs that are 14 % worse', 'passed', summarize(around(4 * 1.14), 0)],
    ['pairs that are 16 % worse', 'slower', summarize(around(4 * 1.16), 0)],
    ['worse pairs that differ too much', 'skipped', summarize(around(8, 0.5), 0)],
    ['worse pairs that are too few', 'skipped', summarize(around(8).slice(0, 8), 0)],
    ['worse pairs on a busy machine', 'skipped', summarize(around(8), 0.11)],
    ['no pairs', 'skipped', summarize([], 0)],
  ] as const)('%s are %s', (_title, verdict, now) => {
    expect(judgePairs(now, released).verdict).toBe(verdict);
  });

  it('a few outliers do not change the judgement', () => {
    const now = summarize([...around(4).slice(0, 13), 40, 60], 0);
    expect(judgePairs(now, released)).toEqual({
      verdict: 'passed',
      reason: 'ratio 4.00, 4.00 in the last release: 1.00 of it',
    });
  });

  it('a release whose ratios are doubtful allows no judgement', () => {
    expect(judgePairs(released, summarize(around(2), 0.5))).toEqual({
      verdict: 'skipped',
      reason: 'in the last release, other processes use 0.50 of the cores, above 0.1',
    });
  });

  it('the reason of a doubt has the figure and its limit', () => {
    const good: Summary = { ratio: 4, spread: 0.2, pairs: 9, others: 0.1 };
    expect(doubtOf(good)).toBeUndefined();
    expect(doubtOf({ ...good, spread: 0.254 })).toBe('the spread is 0.25, above 0.2');
    expect(doubtOf({ ...good, pairs: 8 })).toBe('8 pairs, 9 are needed');
  });

  it('the spread is the interquartile range as a share of the median', () => {
    expect(summarize([1, 2, 3, 4, 5, 6, 7, 8], 0)).toEqual({ ratio: 4.5, spread: 4 / 4.5, pairs: 8, others: 0 });
  });
});
