import type { Catalog } from '../../core/catalog/catalog.ts';
import { toListedPrice } from '../../core/catalog/catalog.ts';
import type { Model, TextModel } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import { pricesOf } from '../../core/images/image-price.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { pricesAt } from '../../core/pricing/text-price.ts';
import { toPrice } from './price-list.ts';

type Picos = Readonly<Record<string, bigint>>;

/** OpenRouter's names of prices, by the names in charge records. All are USD per token. */
const pricingNames: Readonly<Record<string, string>> = {
  input: 'prompt',
  output: 'completion',
  cacheRead: 'input_cache_read',
  cacheWrite: 'input_cache_write',
  cacheWrite1h: 'input_cache_write_1h',
  audioInput: 'audio',
  imageInput: 'image_token',
  imageOutput: 'image_output',
};

/** OpenRouter's `pricing`: what a request that arrives now is charged, the markup included. */
export const toPricing = (catalog: Catalog, model: Model, nowMs: number): object => {
  const text = textModelOf(model);
  if (text) return toTextPricing(catalog, text, nowMs);
  const tokens = tokenPrices(catalog, model, nowMs);
  if (tokens) return toMembers(tokens);
  // OpenRouter requires both members. The row of GET /api/models has the prices that are not per token.
  const { from: _from, until: _until, tiers: _tiers, ...row } = toPrice(toListedPrice(catalog.priceRow(model, nowMs)));
  return { ...toMembers({ input: 0n, output: 0n }), ...row };
};

/** A tier applies above its bound, as an entry of `overrides` does above `min_prompt_tokens`. */
const toTextPricing = (catalog: Catalog, model: TextModel, nowMs: number): object => {
  const row = catalog.priceRow(model, nowMs);
  const priced = (promptTokens: number): object => toMembers(textPrices(model, row, promptTokens));
  const overrides = row.tiers.map(({ aboveInputTokens: bound }) => ({
    min_prompt_tokens: bound,
    ...priced(bound + 1),
  }));
  return { ...priced(0), ...(overrides.length > 0 && { overrides }) };
};

/** Caches have rates on messages alone (BILL-12). Elsewhere each token of a prompt costs the same (BILL-18). */
const textPrices = (model: TextModel, row: TextModel['prices'][number], promptTokens: number): Picos => {
  if (model.protocols.includes('messages')) return pricesAt(row, promptTokens, 'cache-rates-1h');
  const prices = pricesAt(row, promptTokens, 'one-rate');
  const { input = 0n } = prices;
  return { ...prices, cacheRead: input, cacheWrite: input };
};

/** Undefined for a model with a price that is not one rate per kind of token. */
const tokenPrices = (catalog: Catalog, model: Model, nowMs: number): Picos | undefined => {
  switch (model.kind) {
    case 'embedding':
    case 'moderation':
      return { input: catalog.priceRow(model, nowMs).rates.input, output: 0n };
    case 'image': {
      const row = catalog.priceRow(model, nowMs);
      return row.unit === '1M_tokens' ? pricesOf(row) : undefined;
    }
    case 'transcription': {
      const row = catalog.priceRow(model, nowMs);
      if (row.unit !== '1M_tokens') return undefined;
      const { textInput: input, textOutput: output, audioInput } = row.rates;
      return { input, output, audioInput };
    }
    default:
      return undefined;
  }
};

const toMembers = (prices: Picos): Record<string, string> =>
  Object.fromEntries(
    Object.entries(prices).flatMap(([counted, picos]) => {
      const name = pricingNames[counted];
      return name === undefined ? [] : [[name, formatUsd(picos)]];
    }),
  );
