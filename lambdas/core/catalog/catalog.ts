import { utcDay } from '../clock.ts';
import { PICOS_PER_USD } from '../money/usd.ts';
import { nearestOf } from '../nearest.ts';
import type { Model, Protocol, Provider } from './schema.ts';

/** Validated catalog. Callers pass the time, so every result can be reproduced. */
export interface Catalog {
  /** Every catalog entry in the order of the files, including disabled and retired ones. */
  readonly entries: readonly Model[];
  readonly providers: readonly Provider[];
  /** Factor on every price, in units of 1e-12 (BILL-3). */
  readonly markup: bigint;
  /** By id or alias; undefined unless the entry is enabled, not shut down and priced on that day. */
  find(id: string, nowMs: number): Model | undefined;
  /**
   * Models that `find` would find, without aliases. Lists a model whose providers are all off; a call then returns
   * `model_unavailable`.
   */
  list(nowMs: number): readonly Model[];
  /**
   * Returns the most similar id or alias, among the models of a protocol if one is given. Undefined if none is similar
   * (`nearestOf`). Ignores a provider before the id, as in `openai/gpt-5.4`.
   */
  nearest(id: string, nowMs: number, protocol?: Protocol): string | undefined;
  /** Returns the message of `model_not_found` (CAT-4, CAT-6). */
  explainMissing(id: string, nowMs: number, protocol?: Protocol): string;
  /** Returns the price row of that UTC day. Throws a RangeError on a day without one, which `find` excludes. */
  priceRow<Sold extends Model>(model: Sold, nowMs: number): Sold['prices'][number];
  provider(id: string): Provider | undefined;
}

const isRetired = (model: Model, day: string): boolean =>
  model.lifecycle.shutdownDate !== null && day >= model.lifecycle.shutdownDate;

const isServed = (model: Model, day: string): boolean =>
  model.enabled && !isRetired(model, day) && rowIndexOn(model.prices, day) >= 0;

/** Returns an id of a client for an error message, at most 64 characters of it. */
export const shown = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);

/** Returns an amount without the markup, in pico-USD, rounded down. */
export const withoutMarkup = ({ markup }: Pick<Catalog, 'markup'>, picos: bigint): bigint =>
  (picos * PICOS_PER_USD) / markup;

export const createCatalog = (
  entries: readonly Model[],
  providers: readonly Provider[],
  markup = PICOS_PER_USD,
): Catalog => {
  const byName = new Map(
    entries.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model] as const)),
  );
  const providersById = new Map(providers.map((provider) => [provider.id, provider]));
  const list = (nowMs: number) => entries.filter((model) => isServed(model, utcDay(nowMs)));
  const nearest = (id: string, nowMs: number, protocol?: Protocol) =>
    nearestOf(
      id.slice(id.lastIndexOf('/') + 1),
      list(nowMs)
        .filter(
          ({ protocols }: { readonly protocols: readonly Protocol[] }) => !protocol || protocols.includes(protocol),
        )
        .flatMap((model) => [model.id, ...model.aliases]),
    );

  /** Follows replacements that are retired themselves. */
  const replacementOf = (model: Model, day: string, seen: ReadonlySet<string> = new Set()): string | undefined => {
    const next = byName.get(model.lifecycle.replacement ?? '');
    if (!next || seen.has(next.id)) return undefined;
    return isServed(next, day) ? next.id : replacementOf(next, day, new Set([...seen, next.id]));
  };

  const explainMissing = (id: string, nowMs: number, protocol?: Protocol): string => {
    const day = utcDay(nowMs);
    const known = byName.get(id);
    const replacement = known && replacementOf(known, day);
    const retired = known && isRetired(known, day);
    const what = retired
      ? `The model "${shown(id)}" was shut down on ${known.lifecycle.shutdownDate}.`
      : `The model "${shown(id)}" does not exist or is not enabled.`;
    if (replacement) return `${what} Use "${replacement}" instead.`;
    const close = nearest(id, nowMs, protocol);
    return `${what} ${close ? `The nearest model id is "${close}".` : 'GET /v1/models lists the models.'}`;
  };

  return {
    entries,
    providers,
    markup,
    list,
    nearest,
    explainMissing,
    find: (id, nowMs) => {
      const model = byName.get(id);
      return model && isServed(model, utcDay(nowMs)) ? model : undefined;
    },
    priceRow: <Sold extends Model>(model: Sold, nowMs: number): Sold['prices'][number] => {
      const prices: Sold['prices'] = model.prices;
      const row: Sold['prices'][number] | undefined = prices[rowIndexOn(prices, utcDay(nowMs))];
      if (row) return row;
      throw new RangeError(`"${model.id}" has no price on ${utcDay(nowMs)}`);
    },
    provider: (id) => providersById.get(id),
  };
};

interface Dated {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** Returns the index of the row that applies on that day, or -1. */
const rowIndexOn = (rows: readonly Dated[], day: string): number =>
  rows.findIndex(({ from, until }) => (!from || from <= day) && (!until || day <= until));

interface Tiered<Rates> {
  readonly rates: Rates;
  readonly tiers: readonly { readonly aboveInputTokens: number; readonly rates: Rates }[];
}

/**
 * Returns the rates that apply to a prompt of this many tokens, including tokens read from or written to a cache. Above
 * the bound of a tier, the tier's rates apply to every token.
 */
export const ratesAt = <Rates>(row: Tiered<Rates>, promptTokens: number): Rates =>
  row.tiers.findLast((tier) => promptTokens > tier.aboveInputTokens)?.rates ?? row.rates;
