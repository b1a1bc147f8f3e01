import { utcDay } from '../clock.ts';
import { nearestOf } from './nearest.ts';
import { rowIndexOn } from './rates.ts';
import type { Model, Protocol, Provider } from './schema.ts';

/** The validated catalog. The caller says what time it is, so every answer can be repeated. */
export interface Catalog {
  /** Every entry in the order of the files, disabled and retired ones included. */
  readonly entries: readonly Model[];
  readonly providers: readonly Provider[];
  /** By id or alias; undefined unless the entry is enabled, not shut down and priced on that day. */
  find(id: string, nowMs: number): Model | undefined;
  /** What `find` would find, aliases left out. A model whose providers are all off is listed: a call tells (`model_unavailable`). */
  list(nowMs: number): readonly Model[];
  /** The id or alias a caller may have meant, of those that are served in that protocol if one is named. */
  nearest(id: string, nowMs: number, protocol?: Protocol): string | undefined;
  /** The message of `model_not_found` (CAT-4, CAT-6). */
  explainMissing(id: string, nowMs: number, protocol?: Protocol): string;
  /** The row of that UTC day. Throws a RangeError on a day without one, which `find` rules out. */
  priceRow<Sold extends Model>(model: Sold, nowMs: number): Sold['prices'][number];
  provider(id: string): Provider | undefined;
}

const isRetired = (model: Model, day: string): boolean =>
  model.lifecycle.shutdownDate !== null && day >= model.lifecycle.shutdownDate;

const isServed = (model: Model, day: string): boolean =>
  model.enabled && !isRetired(model, day) && rowIndexOn(model.prices, day) >= 0;

const shown = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);

export const createCatalog = (entries: readonly Model[], providers: readonly Provider[]): Catalog => {
  const byName = new Map(
    entries.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model] as const)),
  );
  const providersById = new Map(providers.map((provider) => [provider.id, provider]));
  const list = (nowMs: number) => entries.filter((model) => isServed(model, utcDay(nowMs)));
  const nearest = (id: string, nowMs: number, protocol?: Protocol) =>
    nearestOf(
      id,
      list(nowMs)
        .filter(
          ({ protocols }: { readonly protocols: readonly Protocol[] }) => !protocol || protocols.includes(protocol),
        )
        .flatMap((model) => [model.id, ...model.aliases]),
    );

  /** Follows replacements that are gone themselves. */
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
    return close ? `${what} The nearest model id is "${close}".` : what;
  };

  return {
    entries,
    providers,
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
