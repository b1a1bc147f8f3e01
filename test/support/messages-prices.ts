import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';

/** As the vendor reports it: `input_tokens` is what is left beside the cache. */
export interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
}

const usd = z.string().transform(parseUsd);
const rates = {
  input: usd,
  output: usd,
  cache_write_5m: usd,
  cache_write_1h: usd,
  cache_read: usd,
};
const row = z.object({
  unit: z.literal('1M_tokens'),
  from: z.string().nullable(),
  until: z.string().nullable(),
  ...rates,
  tiers: z.array(z.object({ above_input_tokens: z.int(), ...rates })),
});
const list = z.object({ data: z.array(z.object({ id: z.string(), prices: z.array(z.unknown()) })) });

/** The public prices of a model today (CAT-2), in pico-USD for a million tokens. */
export async function messageRates({ url }: { readonly url: string }, id: string) {
  const { data } = list.parse(await (await fetch(`${url}/api/models`)).json());
  const today = new Date().toISOString().slice(0, 10);
  const rows = z.array(row).parse(data.find((model) => model.id === id)?.prices);
  const found = rows.find(({ from, until }) => (from ?? today) <= today && today <= (until ?? today));
  if (!found) throw new Error(`no price for ${id}`);
  return found;
}

/** What a usage costs in pico-USD by that list: the five kinds of tokens apart, all at the rates of the prompt's whole length. */
export async function messagePrices(
  gateway: { readonly url: string },
  id: string,
): Promise<(usage: MessageUsage) => bigint> {
  const found = await messageRates(gateway, id);
  return (usage) => {
    const read = usage.cache_read_input_tokens ?? 0;
    const written = usage.cache_creation_input_tokens ?? 0;
    const written1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
    const prompt = usage.input_tokens + read + written;
    const used = found.tiers.findLast((tier) => prompt > tier.above_input_tokens) ?? found;
    const millionfold =
      BigInt(usage.input_tokens) * used.input +
      BigInt(read) * used.cache_read +
      BigInt(written - written1h) * used.cache_write_5m +
      BigInt(written1h) * used.cache_write_1h +
      BigInt(usage.output_tokens) * used.output;
    if (millionfold % 1_000_000n !== 0n) throw new Error('a charge that is no whole pico-dollar');
    return millionfold / 1_000_000n;
  };
}
