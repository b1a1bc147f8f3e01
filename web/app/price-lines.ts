import type { Model, PriceExample, PriceRow } from './api-shapes.ts';
import type { Spoken } from './language.ts';
import { formatPicos, parseUsd, usdText } from './usd.ts';

/** Prices of a model in one span of time and for some protocols, as text. */
export interface PriceLines {
  /** Empty for the current price without an end. */
  readonly span: string;
  /** Unit of prices of tokens. Empty for prices whose names have their unit. */
  readonly unit: string;
  /** Protocols, if the prices of the model differ by protocol. */
  readonly protocols: string;
  readonly lines: readonly PriceLine[];
}

export interface PriceLine {
  /** Condition of the line. Empty for a price of every request. */
  readonly when: string;
  readonly rates: readonly (readonly [name: string, price: string])[];
}

/** Returns the current price and future ones, without past ones. */
export const toPriceLines = (model: Model, today: string, spoken: Spoken): readonly PriceLines[] => {
  const rows = model.prices.filter(({ until }) => until === null || until >= today);
  const isSplit = new Set(rows.map(({ protocols }) => protocols.join())).size > 1;
  const groups = Map.groupBy(rows, ({ protocols, from, until }) => [from, until, ...protocols].join());
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return [
      {
        span: spanText(first, today, spoken),
        unit: 'input' in first.prices_usd || 'output' in first.prices_usd ? spoken.texts.prices.tokens : '',
        protocols: isSplit ? first.protocols.join(', ') : '',
        lines: group.map((row) => ({ when: whenText(row, spoken), rates: ratesOf(row, spoken) })),
      },
    ];
  });
};

/** Returns the examples as lines: the request, and its price. */
export const toExampleLines = (model: Model, today: string, spoken: Spoken): PriceLine['rates'] => [
  ...model.examples.map((example) => [exampleName(example, spoken), priceText(example.usd, spoken)] as const),
  ...textExample(model, today, spoken),
];

/** Tokens of the example of a text model: about 750 words in and 375 words out. */
const TOKENS_IN = 1_000;
const TOKENS_OUT = 500;

const textExample = ({ kind, prices }: Model, today: string, spoken: Spoken): PriceLine['rates'] => {
  if (kind !== 'text') return [];
  const row = prices.find(
    ({ from, until, when }) =>
      (from ?? today) <= today && today <= (until ?? today) && when.input_tokens_above === undefined,
  );
  const { input, output } = row?.prices_usd ?? {};
  if (input === undefined || output === undefined) return [];
  const picos = parseUsd(input) * BigInt(TOKENS_IN) + parseUsd(output) * BigInt(TOKENS_OUT);
  const name = spoken.texts.prices.textExample(spoken.count(TOKENS_IN), spoken.count(TOKENS_OUT));
  return [[name, priceText(formatPicos(picos), spoken)]];
};

const exampleName = ({ size, quality, seconds }: PriceExample, { texts, count }: Spoken): string =>
  [
    size,
    quality !== null && named(texts.prices.qualities, quality),
    seconds !== null && texts.prices.seconds(count(seconds)),
  ]
    .filter((part) => typeof part === 'string')
    .join(', ') || texts.prices.oneImage;

const spanText = ({ from, until }: PriceRow, today: string, { texts: { prices }, day }: Spoken): string =>
  [from !== null && from > today ? prices.from(day(from)) : '', until === null ? '' : prices.until(day(until))]
    .filter((text) => text !== '')
    .join(' ');

const whenText = ({ when }: PriceRow, { texts: { prices }, count }: Spoken): string => {
  if (when.input_tokens_above !== undefined) return prices.above(count(when.input_tokens_above));
  if (when.pixels_max !== undefined) return prices.upTo(count(when.pixels_max));
  if (when.pixels_above !== undefined) return prices.larger;
  return when.size_tier ?? when.sizes?.join(', ') ?? '';
};

/** Counts that are shown only if their price differs from that of the other count. */
const sameAs: Readonly<Record<string, string>> = {
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'input',
  image_input: 'input',
  cached_image_input: 'image_input',
  reasoning: 'output',
};

const ratesOf = ({ prices_usd: prices }: PriceRow, spoken: Spoken): PriceLine['rates'] =>
  Object.entries(prices).flatMap(([name, price]) => {
    const base = sameAs[name];
    return base !== undefined && prices[base] === price ? [] : [[rateName(name, spoken), shown(name, price, spoken)]];
  });

/** Counts whose prices are shown as they are. Others are shown for a million, because one token costs too little. */
const shownForOne: ReadonlySet<string> = new Set(['image', 'input_image', 'first_megapixel', 'second']);
const shownForThousand: ReadonlySet<string> = new Set(['extra_milli_megapixel', 'reference_milli_megapixel']);

const shown = (name: string, price: string, spoken: Spoken): string => {
  const times = shownForOne.has(name) ? 1n : shownForThousand.has(name) ? 1_000n : 1_000_000n;
  return priceText(formatPicos(parseUsd(price) * times), spoken);
};

const rateName = (name: string, { texts }: Spoken): string =>
  named(texts.prices.rates, name.replaceAll('_', ''), name.replaceAll('_', ' '));

const named = (names: Readonly<Record<string, string>>, name: string, otherwise = name): string =>
  names[name] ?? otherwise;

const priceText = (price: string, { language, texts }: Spoken): string =>
  price === '0' ? texts.prices.free : usdText(price, { language });
