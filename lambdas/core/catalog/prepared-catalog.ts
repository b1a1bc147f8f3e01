import { PICOS_PER_USD } from '../money/usd.ts';
import { unevenCacheRates } from './cache-rates.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import {
  CatalogError,
  type CatalogProblem,
  type LoadOptions,
  onlyOf,
  parseMarkup,
  withoutFile,
} from './load-options.ts';
import { sharesIn } from './price-units.ts';
import type { Model, PriceRow, Provider } from './schema.ts';

/**
 * Valid catalog in JSON, written by `prepareCatalog`. Every amount is `{ "picos": "<decimal>" }`, in pico-USD for one
 * unit without a markup.
 */
export interface PreparedCatalog {
  /** Names of the catalog files, in their order. */
  readonly companies: readonly string[];
  readonly providers: readonly Provider[];
  readonly entries: readonly Model[];
}

/**
 * Opens a prepared catalog without checking it again, so that no start of a function pays for the check. Gives the same
 * catalog as `loadCatalog`. Throws a CatalogError for invalid options, and for a markup that leaves a price or a default
 * cache rate that is not a whole number of pico-USD (BILL-3, BILL-12).
 */
export const openPreparedCatalog = (text: string, options: LoadOptions = {}): Catalog => {
  const markup = parseMarkup(options.markup);
  const prepared: PreparedCatalog = JSON.parse(text);
  const { companies = prepared.companies } = options;
  const problems = [...withoutFile(companies, prepared.companies)];
  const entries = prepared.entries.map((entry) => ({
    ...entry,
    prices: entry.prices.map((row, index) => {
      const price = (picos: string, field: string): bigint => {
        const product = BigInt(picos) * markup;
        const isWhole = product % (PICOS_PER_USD * sharesIn(row.unit)) === 0n;
        if (!isWhole) problems.push(inexact(entry.id, `prices[${index}]${field}`, row));
        return product / PICOS_PER_USD;
      };
      return withAmounts(row, '', price);
    }),
  }));
  const models = entries as Model[];
  for (const model of models)
    if (model.kind === 'text')
      problems.push(...unevenCacheRates(model).map((finding) => ({ id: model.id, ...finding })));
  if (problems.length > 0) throw new CatalogError(problems);
  return createCatalog(models.map(onlyOf(companies)), prepared.providers, markup);
};

const inexact = (id: string, field: string, { unit }: PriceRow): CatalogProblem => ({
  id,
  field,
  message: `times the markup is not a whole number of pico-USD for one of "${unit}"`,
});

type ToPrice = (picos: string, field: string) => bigint;

/** Returns a copy with the price of every amount, at any depth. */
const withAmounts = (value: unknown, field: string, price: ToPrice): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => withAmounts(item, `${field}[${index}]`, price));
  if ('picos' in value) return price(String(value.picos), field);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withAmounts(member, `${field}.${name}`, price)]),
  );
};
