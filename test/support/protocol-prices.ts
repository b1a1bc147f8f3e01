import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import type { TokenUsage } from '../../lambdas/core/pricing/charge.ts';
import type { TestGateway } from './gateway.ts';

const ratesSchema = z.object({
  input: z.string(),
  output: z.string().default('0'),
  cache_read: z.string().optional(),
  cache_write_5m: z.string().optional(),
  cache_write_1h: z.string().optional(),
});
type Rates = z.infer<typeof ratesSchema>;

const rowSchema = ratesSchema.extend({
  unit: z.literal('1M_tokens'),
  from: z.string().nullable(),
  until: z.string().nullable(),
  tiers: z.array(ratesSchema.extend({ above_input_tokens: z.int() })),
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
  const ratesFor = (usage: TokenUsage): Rates => {
    const row = rows.find(({ from, until }) => (from ?? day) <= day && day <= (until ?? day));
    if (!row) throw new Error(`no price of ${id} for ${day}`);
    const reached = row.tiers.filter((tier) => promptOf(usage) > tier.above_input_tokens);
    return reached.toSorted((one, other) => other.above_input_tokens - one.above_input_tokens)[0] ?? row;
  };
  return {
    atOneRate: (usage) => {
      const { input, output } = ratesFor(usage);
      return cost(promptOf(usage), input) + cost(usage.output + usage.reasoning, output);
    },
    atCacheRates: (usage) => {
      const rates = ratesFor(usage);
      return (
        cost(usage.input, rates.input) +
        cost(usage.cacheRead, rates.cache_read) +
        cost(usage.cacheWrite, rates.cache_write_5m) +
        cost(usage.cacheWrite1h, rates.cache_write_1h) +
        cost(usage.output + usage.reasoning, rates.output)
      );
    },
  };
}

const promptOf = ({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage): number =>
  input + cacheRead + cacheWrite + cacheWrite1h;

/** Price in pico-USD at a rate per million tokens. Throws if the rate is not listed. */
const cost = (tokens: number, usdPerMillion: string | undefined): bigint => {
  if (usdPerMillion === undefined) throw new Error('no such rate is listed');
  return (BigInt(tokens) * parseUsd(usdPerMillion)) / 1_000_000n;
};
