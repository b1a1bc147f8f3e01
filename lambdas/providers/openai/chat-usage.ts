import * as z from 'zod';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';

/**
 * https://platform.openai.com/docs/api-reference/chat/object: `prompt_tokens` includes cached and cache-writing tokens,
 * `completion_tokens` includes reasoning.
 */
const chatUsage = z.object({
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  prompt_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
  completion_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined when the vendor reported none, or nothing that can be counted. */
export const toTokenUsage = (reported: unknown): TokenUsage | undefined => {
  const parsed = chatUsage.safeParse(reported);
  if (!parsed.success) return undefined;
  if ((parsed.data.prompt_tokens ?? parsed.data.completion_tokens ?? undefined) === undefined) return undefined;
  const prompt = parsed.data.prompt_tokens ?? 0;
  const completion = parsed.data.completion_tokens ?? 0;
  const cacheRead = Math.min(parsed.data.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  const cacheWrite = Math.min(parsed.data.prompt_tokens_details?.cache_write_tokens ?? 0, prompt - cacheRead);
  const reasoning = Math.min(parsed.data.completion_tokens_details?.reasoning_tokens ?? 0, completion);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: completion - reasoning,
    reasoning,
  };
};
