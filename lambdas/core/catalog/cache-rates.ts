/** Pico-USD per token. */
interface Rates {
  readonly input: bigint;
  readonly cacheWrite5m?: bigint | undefined;
  readonly cacheWrite1h?: bigint | undefined;
  readonly cacheRead?: bigint | undefined;
}

interface CacheRates {
  readonly cacheWrite5m: bigint;
  readonly cacheWrite1h: bigint;
  readonly cacheRead: bigint;
}

/**
 * Returns the rates for cache tokens of native messages (BILL-12): those of the catalog entry, or else 1.25, 2 and 0.1
 * times input. Loading checks that the products are whole numbers (`unevenCacheRates`).
 */
export const cacheRatesOf = (rates: Rates): CacheRates => ({
  cacheWrite5m: rates.cacheWrite5m ?? (rates.input * 5n) / 4n,
  cacheWrite1h: rates.cacheWrite1h ?? rates.input * 2n,
  cacheRead: rates.cacheRead ?? rates.input / 10n,
});

export interface PricedText {
  readonly protocols: readonly string[];
  readonly prices: readonly { readonly rates: Rates; readonly tiers: readonly { readonly rates: Rates }[] }[];
}

export interface Finding {
  /** Path within the entry, such as `prices[0].rates.cacheRead`. */
  readonly field: string;
  readonly message: string;
}

/**
 * Reports a default cache rate, which is a factor of the input price, that is not a whole number of pico-USD (BILL-12).
 */
export const unevenCacheRates = ({ protocols, prices }: PricedText): readonly Finding[] => {
  if (!protocols.includes('messages')) return [];
  const message =
    'is absent, and its default, a fraction or multiple of input, is not a whole number of pico-USD. Set it';
  const uneven = ({ input, cacheWrite5m, cacheRead }: Rates): readonly string[] => [
    ...(cacheWrite5m === undefined && input % 4n !== 0n ? ['cacheWrite5m'] : []),
    ...(cacheRead === undefined && input % 10n !== 0n ? ['cacheRead'] : []),
  ];
  return prices.flatMap((row, at) => [
    ...uneven(row.rates).map((name) => ({ field: `prices[${at}].rates.${name}`, message })),
    ...row.tiers.flatMap(({ rates }, tierAt) =>
      uneven(rates).map((name) => ({ field: `prices[${at}].tiers[${tierAt}].rates.${name}`, message })),
    ),
  ]);
};
