import { type Catalog, withoutMarkup } from '../catalog/catalog.ts';
import type { CatalogProblem } from '../catalog/load-options.ts';
import type { ImageModel, Model, TextModel } from '../catalog/schema.ts';
import { utcDay } from '../clock.ts';
import { formatUsd } from '../money/usd.ts';
import { billedRatesAt, type PromptPricing, pricesAt } from './text-price.ts';

/**
 * Returns warnings about enabled entries: prices below the provider's rate at the markup of the catalog, and counts that
 * the provider can bill and the catalog has no rate for. Ignores past prices.
 */
export const costWarnings = (catalog: Catalog, nowMs: number): readonly CatalogProblem[] =>
  catalog.entries.filter(({ enabled }) => enabled).flatMap((model) => warningsOf(catalog, model, utcDay(nowMs)));

const warningsOf = (catalog: Catalog, model: Model, today: string): readonly CatalogProblem[] => {
  if (model.kind === 'text') return [...belowCost(catalog, model, today), ...withoutReadRate(model, today)];
  return model.kind === 'image' ? withoutTokenRates(model, today) : [];
};

const isPast = ({ until = undefined }: { readonly until?: string | undefined }, today: string): boolean =>
  until !== undefined && until < today;

const TOKENS_SHOWN = 1_000_000n;

const belowCost = (catalog: Catalog, model: TextModel, today: string): readonly CatalogProblem[] =>
  model.prices.flatMap((row, index) => {
    if (isPast(row, today)) return [];
    const lengths = [0, ...row.tiers.map(({ aboveInputTokens }) => aboveInputTokens + 1)];
    return pricingsOf(model).flatMap(([pricing, protocols]) =>
      lengths.flatMap((promptTokens, tier) => {
        const prices = pricesAt(row, promptTokens, pricing);
        const place = tier === 0 ? `prices[${index}].rates` : `prices[${index}].tiers[${tier - 1}].rates`;
        return Object.entries(billedRatesAt(row, promptTokens, pricing)).flatMap(([count, billed]) => {
          if (!isBilled(model, pricing, count)) return [];
          const cost = withoutMarkup(catalog, billed);
          const price = prices[count];
          if (price === undefined || price >= cost) return [];
          const amounts = `costs ${shown(cost)} USD per 1M tokens and is charged at ${shown(price)}`;
          return [{ id: model.id, field: `${place}.${count}`, message: `${amounts} on ${protocols}` }];
        });
      }),
    );
  });

/** Whether the provider can bill the count. Chat completions remove `cache_control` (BILL-18). */
const isBilled = ({ capabilities }: TextModel, pricing: PromptPricing, count: string): boolean => {
  if (!count.startsWith('cache') || pricing !== 'one-rate') return true;
  return capabilities.promptCache === 'implicit' && count !== 'cacheWrite1h';
};

const shown = (picos: bigint): string => formatUsd(picos * TOKENS_SHOWN);

const pricingsOf = ({ protocols }: TextModel): readonly (readonly [PromptPricing, string])[] => {
  const plain = protocols.filter((protocol) => protocol !== 'messages').join(', ');
  const all: readonly (readonly [PromptPricing, string])[] = [
    ['one-rate', plain],
    ['cache-rates', protocols.includes('messages') ? 'messages' : ''],
  ];
  return all.filter(([, names]) => names !== '');
};

const withoutReadRate = ({ id, capabilities, prices }: TextModel, today: string): readonly CatalogProblem[] =>
  prices.flatMap((row, index) => {
    const { cacheRead, cachedInput } = row.rates;
    if (isPast(row, today) || capabilities.promptCache === 'none' || (cacheRead ?? cachedInput) !== undefined)
      return [];
    const message = 'the provider can bill cached tokens, and the entry has no rate for them';
    return [{ id, field: `prices[${index}].rates.cachedInput`, message }];
  });

const withoutTokenRates = ({ id, upstreams, prices }: ImageModel, today: string): readonly CatalogProblem[] =>
  prices.flatMap((row, index) => {
    const isByTokens = upstreams.some(({ enabled, wire }) => enabled && wire === 'openai_images');
    if (!isByTokens || isPast(row, today) || row.unit !== 'image' || row.billedRates) return [];
    const message = 'the provider bills tokens, and the entry has no rates for them';
    return [{ id, field: `prices[${index}].billedRates`, message }];
  });
