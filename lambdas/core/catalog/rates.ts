import { formatUsd } from '../money/usd.ts';
import { unitSizes } from './prices.ts';
import type { PriceRow, TextRates } from './schema.ts';

interface Dated {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** The place of the row that holds on that day, -1 without one. */
export const rowIndexOn = (rows: readonly Dated[], day: string): number =>
  rows.findIndex(({ from, until }) => (!from || from <= day) && (!until || day <= until));

interface Tiered<Rates> {
  readonly rates: Rates;
  readonly tiers: readonly { readonly aboveInputTokens: number; readonly rates: Rates }[];
}

/**
 * The rates of a whole request with this many prompt tokens, cached and cache-writing ones included: past a tier's bound every
 * token costs the tier's rate, not only those above it.
 */
export const ratesAt = <Rates>(row: Tiered<Rates>, promptTokens: number): Rates =>
  row.tiers.findLast((tier) => promptTokens > tier.aboveInputTokens)?.rates ?? row.rates;

interface CacheRates {
  readonly cacheWrite5m: bigint;
  readonly cacheWrite1h: bigint;
  readonly cacheRead: bigint;
}

/** Native messages only (BILL-12): the entry's own rates, else 1.25, 2 and 0.1 times input, which load has found to be whole. */
export const cacheRatesOf = (rates: TextRates): CacheRates => ({
  cacheWrite5m: rates.cacheWrite5m ?? (rates.input * 5n) / 4n,
  cacheWrite1h: rates.cacheWrite1h ?? rates.input * 2n,
  cacheRead: rates.cacheRead ?? rates.input / 10n,
});

/** A price as it is shown: exact decimal strings in USD per the row's unit, the markup included. */
export interface ListedPrice {
  readonly unit: PriceRow['unit'];
  readonly from: string | null;
  readonly until: string | null;
  readonly rates: Readonly<Record<string, string>>;
  readonly tiers: readonly { readonly aboveInputTokens: number; readonly rates: Readonly<Record<string, string>> }[];
  readonly byTier?: Readonly<Record<string, string>>;
  readonly bySize?: Readonly<Record<string, string>>;
  /** `maxPixels` null: everything larger. */
  readonly byPixels?: readonly { readonly maxPixels: number | null; readonly perImage: string }[];
  readonly imageTokensByTier?: Readonly<Record<string, number>>;
}

const listEach = (picos: Readonly<Record<string, bigint | undefined>>, unitSize: bigint): Record<string, string> => {
  const listed: Record<string, string> = {};
  for (const [name, value] of Object.entries(picos)) {
    if (value !== undefined) listed[name] = formatUsd(value * unitSize);
  }
  return listed;
};

export const toListedPrice = (row: PriceRow): ListedPrice => {
  const size = unitSizes[row.unit];
  const tiers = 'tiers' in row ? row.tiers : [];
  return {
    unit: row.unit,
    from: row.from ?? null,
    until: row.until ?? null,
    rates: listEach(row.rates, size),
    tiers: tiers.map((tier) => ({ aboveInputTokens: tier.aboveInputTokens, rates: listEach(tier.rates, size) })),
    ...('byTier' in row && row.byTier && { byTier: listEach(row.byTier, size) }),
    ...('bySize' in row && row.bySize && { bySize: listEach(row.bySize, size) }),
    ...('byPixels' in row &&
      row.byPixels && {
        byPixels: row.byPixels.map((band) => ({
          maxPixels: band.maxPixels ?? null,
          perImage: formatUsd(band.perImage * size),
        })),
      }),
    ...('imageTokensByTier' in row && row.imageTokensByTier && { imageTokensByTier: row.imageTokensByTier }),
  };
};
