import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';

/**
 * https://platform.claude.com/docs/en/api/messages: `input_tokens` is what is left beside the cache, `output_tokens` includes
 * thinking, and `cache_creation` splits `cache_creation_input_tokens`.
 */
const messagesUsage = z.object({
  input_tokens: tokenCount,
  cache_read_input_tokens: tokenCount,
  cache_creation_input_tokens: tokenCount,
  cache_creation: z
    .object({ ephemeral_5m_input_tokens: tokenCount, ephemeral_1h_input_tokens: tokenCount })
    .nullish()
    .catch(null),
  output_tokens: tokenCount,
  output_tokens_details: z.object({ thinking_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined when the vendor reported none, or nothing that can be counted. */
export const toTokenUsage = (reported: unknown): TokenUsage | undefined => {
  const { data } = messagesUsage.safeParse(reported);
  if (!data || (data.input_tokens ?? data.output_tokens ?? undefined) === undefined) return undefined;
  const output = data.output_tokens ?? 0;
  const reasoning = Math.min(data.output_tokens_details?.thinking_tokens ?? 0, output);
  const { ephemeral_5m_input_tokens: for5m, ephemeral_1h_input_tokens: for1h } = data.cache_creation ?? {};
  const written = data.cache_creation_input_tokens ?? (for5m ?? 0) + (for1h ?? 0);
  const cacheWrite1h = Math.min(for1h ?? 0, written);
  return {
    input: data.input_tokens ?? 0,
    cacheRead: data.cache_read_input_tokens ?? 0,
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
    output: output - reasoning,
    reasoning,
  };
};

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0;

/** Counts of later events are totals: each replaces the earlier one where it is told at all, and is a count. */
export const mergeUsage = (earlier: JsonObject, later: JsonObject): JsonObject => ({
  ...earlier,
  ...Object.fromEntries(Object.entries(later).filter(([, value]) => isJsonObject(value) || isCount(value))),
});
