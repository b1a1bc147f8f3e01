import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import type { TokenUsage } from '../../lambdas/core/pricing/charge.ts';
import type { TestGateway } from './gateway.ts';

const rowSchema = z.object({
  protocols: z.array(z.string()),
  from: z.string().nullable(),
  until: z.string().nullable(),
  when: z.strictObject({ input_tokens_above: z.int().default(-1), input_tokens_max: z.int().optional() }),
  prices_usd: z.record(z.string(), z.string()),
});
const listSchema = z.object({ data: z.array(z.object({ id: z.string(), prices: z.array(z.unknown()) })) });

export interface TokenPrices {
  /** Price in pico-USD if every prompt token costs the same, as on all formats except native messages (BILL-18). */
  atOneRate(usage: TokenUsage): bigint;
  /** Price in pico-USD with separate rates for cache reads and writes, as on native messages (BILL-12). */
  atCacheRates(usage: TokenUsage): bigint;
}

/**
 * Returns the prices of the public price list (CAT-2). The length of the whole prompt selects the tier. `day` is by
 * default the gateway's current UTC day.
 */
export async function tokenPricesOf(
  { url, now }: Pick<TestGateway, 'url' | 'now'>,
  id: string,
  day = new Date(now()).toISOString().slice(0, 10),
): Promise<TokenPrices> {
  const list = listSchema.parse(await (await fetch(`${url}/api/models`)).json());
  const rows = z.array(rowSchema).parse(list.data.find((model) => model.id === id)?.prices);
  const costOn = (usage: TokenUsage, isMessages: boolean): bigint => {
    const tokens = promptOf(usage);
    const found = rows.filter(
      ({ protocols, from, until, when }) =>
        protocols.includes('messages') === isMessages &&
        (from ?? day) <= day &&
        day <= (until ?? day) &&
        tokens > when.input_tokens_above &&
        tokens <= (when.input_tokens_max ?? tokens),
    );
    if (found.length !== 1) throw new Error(`${found.length} prices of ${id} apply on ${day}`);
    return costAt(usage, found[0]?.prices_usd ?? {});
  };
  return {
    atOneRate: (usage) => costOn(usage, false),
    atCacheRates: (usage) => costOn(usage, true),
  };
}

const promptOf = ({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage): number =>
  input + cacheRead + cacheWrite + cacheWrite1h;

/** Price in pico-USD. Throws if a price is not listed. */
const costAt = (usage: TokenUsage, prices: Readonly<Record<string, string>>): bigint =>
  Object.entries(usage).reduce((sum, [count, tokens]) => {
    const price = prices[wireNameOf(count)];
    if (price === undefined && tokens > 0) throw new Error(`no price of ${count} is listed`);
    return sum + BigInt(tokens) * parseUsd(price ?? '0');
  }, 0n);

const wireNameOf = (name: string): string => name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
