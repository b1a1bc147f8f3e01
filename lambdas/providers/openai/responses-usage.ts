import * as z from 'zod';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';

/**
 * `ResponseUsage` in the package openai 7.55.0 (resources/responses/responses.d.ts): `input_tokens` includes what was read from and
 * written to a cache, for however long, and `output_tokens` includes reasoning.
 */
const responsesUsage = z.object({
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  input_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
  output_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined when the vendor reported none, or nothing that can be counted. */
export const toResponsesUsage = (reported: unknown): TokenUsage | undefined => {
  const parsed = responsesUsage.safeParse(reported);
  if (!parsed.success) return undefined;
  const { input_tokens: read, output_tokens: written, input_tokens_details: parts } = parsed.data;
  if ((read ?? written ?? undefined) === undefined) return undefined;
  const prompt = read ?? 0;
  const answer = written ?? 0;
  const cacheRead = Math.min(parts?.cached_tokens ?? 0, prompt);
  const cacheWrite = Math.min(parts?.cache_write_tokens ?? 0, prompt - cacheRead);
  const reasoning = Math.min(parsed.data.output_tokens_details?.reasoning_tokens ?? 0, answer);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: answer - reasoning,
    reasoning,
  };
};
