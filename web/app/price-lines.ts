import type { Model, PriceRow } from './api-shapes.ts';
import type { Spoken } from './language.ts';
import { isUsd } from './shapes.ts';
import { usdText } from './usd.ts';

/** Price of a model in one span of time, as text. */
export interface PriceLines {
  /** Empty for the current price without an end. */
  readonly span: string;
  readonly unit: string;
  readonly lines: readonly PriceLine[];
}

export interface PriceLine {
  /** Condition of the line. Empty for the plain price. */
  readonly when: string;
  readonly rates: readonly (readonly [name: string, price: string])[];
}

/** Returns the current price and future ones, without past ones. */
export const toPriceLines = (model: Model, today: string, spoken: Spoken): readonly PriceLines[] =>
  model.prices.filter(({ until }) => until === null || until >= today).map((row) => toLines(row, today, spoken));

const toLines = (row: PriceRow, today: string, spoken: Spoken): PriceLines => ({
  span: spanText(row, today, spoken),
  unit: named(spoken.texts.prices.units, row.unit),
  lines: [
    { when: '', rates: ratesOf(row, spoken) },
    ...row.tiers.map((tier) => ({
      when: spoken.texts.prices.above(spoken.count(tier.above_input_tokens)),
      rates: ratesOf(tier, spoken),
    })),
    { when: '', rates: [...byName(row.by_tier, spoken), ...byName(row.by_size, spoken), ...byPixels(row, spoken)] },
  ].filter(({ rates }) => rates.length > 0),
});

const spanText = ({ from, until }: PriceRow, today: string, { texts: { prices }, day }: Spoken): string =>
  [from !== null && from > today ? prices.from(day(from)) : '', until === null ? '' : prices.until(day(until))]
    .filter((text) => text !== '')
    .join(' ');

/** Every member of a row with an amount is the rate of that name. */
const ratesOf = (row: Readonly<Record<string, unknown>>, spoken: Spoken): PriceLine['rates'] =>
  Object.entries(row).flatMap(([name, value]) =>
    isUsd(value) ? [[rateName(name, spoken), priceText(value, spoken)] as const] : [],
  );

/** The texts have the gateway's names without underscores. */
const rateName = (name: string, { texts }: Spoken): string => named(texts.prices.rates, name.replaceAll('_', ''), name);

const named = (names: Readonly<Record<string, string>>, name: string, otherwise = name): string =>
  names[name] ?? otherwise.replaceAll('_', ' ');

const byName = (prices: Readonly<Record<string, string>> = {}, spoken: Spoken): PriceLine['rates'] =>
  Object.entries(prices).map(([name, price]) => [name, priceText(price, spoken)] as const);

const byPixels = ({ by_pixels = [] }: PriceRow, spoken: Spoken): PriceLine['rates'] =>
  by_pixels.map(({ max_pixels, per_image }) => {
    const { upTo, larger } = spoken.texts.prices;
    return [max_pixels === null ? larger : upTo(spoken.count(max_pixels)), priceText(per_image, spoken)] as const;
  });

const priceText = (price: string, { language, texts }: Spoken): string =>
  price === '0' ? texts.prices.free : usdText(price, { language });
