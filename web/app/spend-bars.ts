import type { ModelSpend, Spend } from './api-shapes.ts';
import { addUsd, compareUsd, formatPicos, parseUsd } from './usd.ts';

/** Part of the chart with its own color: one model, or all other models together if `isRest`. */
export interface Series {
  readonly models: readonly (string | null)[];
  readonly isRest: boolean;
  readonly costUsd: string;
}

export interface Segment {
  readonly series: number;
  /** Shares of the chart's height, from its top. */
  readonly top: number;
  readonly height: number;
}

export interface Bar {
  readonly day: string;
  readonly costUsd: string;
  readonly segments: readonly Segment[];
}

export interface Bars {
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  /** Amount at the full height. */
  readonly topUsd: string;
}

/** Number of distinguishable colors. The last one is for all other models. */
export const SERIES_MAX = 6;

/** Only lengths on the screen are floating-point numbers. Sums and the scale are exact. */
export const toBars = ({ days, models }: Pick<Spend, 'days' | 'models'>): Bars => {
  const series = toSeries(models);
  const highest = days.reduce((most, { cost_usd }) => max(most, parseUsd(cost_usd)), 0n);
  const top = roundScale(highest);
  const bars = days.map(({ day, cost_usd, models: spent }) => ({
    day,
    costUsd: cost_usd,
    segments: stack(
      series.map((one) => sumOf(spent, one)),
      top,
    ),
  }));
  return { series, bars, topUsd: formatPicos(top) };
};

const toSeries = (models: readonly ModelSpend[]): readonly Series[] => {
  const costly = models
    .filter(({ cost_usd }) => parseUsd(cost_usd) > 0n)
    .sort((left, right) => compareUsd(right.cost_usd, left.cost_usd));
  const named = costly.length <= SERIES_MAX ? costly.length : SERIES_MAX - 1;
  const alone = costly
    .slice(0, named)
    .map(({ model, cost_usd }) => ({ models: [model], isRest: false, costUsd: cost_usd }));
  const rest = costly.slice(named);
  if (rest.length === 0) return alone;
  const costUsd = addUsd(rest.map(({ cost_usd }) => cost_usd));
  return [...alone, { models: rest.map(({ model }) => model), isRest: true, costUsd }];
};

const sumOf = (spent: readonly ModelSpend[], { models }: Series): bigint =>
  spent.filter(({ model }) => models.includes(model)).reduce((sum, { cost_usd }) => sum + parseUsd(cost_usd), 0n);

const stack = (amounts: readonly bigint[], top: bigint): readonly Segment[] => {
  let filled = 0n;
  return amounts.flatMap((amount, series) => {
    if (amount <= 0n) return [];
    filled += amount;
    return [{ series, top: 1 - share(filled, top), height: share(amount, top) }];
  });
};

const PRECISION = 1_000_000n;
const share = (amount: bigint, top: bigint): number => Number((amount * PRECISION) / top) / Number(PRECISION);

/** The scale ends at the next of these steps times a power of ten, so that it and its half are readable. */
const steps = [1n, 2n, 3n, 4n, 5n, 6n, 8n];

const roundScale = (highest: bigint): bigint => {
  for (let power = 1n; ; power *= 10n) {
    const found = steps.map((step) => step * power).find((scale) => scale >= highest);
    if (found !== undefined) return found;
  }
};

const max = (left: bigint, right: bigint): bigint => (left > right ? left : right);
