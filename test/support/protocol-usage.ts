import * as z from 'zod';
import type { TokenUsage } from '../../lambdas/core/pricing/charge.ts';

const count = z
  .int()
  .nonnegative()
  .nullish()
  .transform((tokens) => tokens ?? 0);

/** Chat completions: prompt tokens include cached tokens, completion tokens include reasoning tokens. */
const chatUsage = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: z.object({ reasoning_tokens: count }),
  })
  .transform(({ prompt_tokens_details: prompt, completion_tokens_details: completion, ...usage }) => ({
    input: usage.prompt_tokens - prompt.cached_tokens - prompt.cache_write_tokens,
    cacheRead: prompt.cached_tokens,
    cacheWrite: prompt.cache_write_tokens,
    cacheWrite1h: 0,
    output: usage.completion_tokens - completion.reasoning_tokens,
    reasoning: completion.reasoning_tokens,
  }));

/** Responses: like chat completions, with other names. */
const responsesUsage = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens_details: z.object({ reasoning_tokens: count }),
  })
  .transform(({ input_tokens_details: input, output_tokens_details: output, ...usage }) => ({
    input: usage.input_tokens - input.cached_tokens - input.cache_write_tokens,
    cacheRead: input.cached_tokens,
    cacheWrite: input.cache_write_tokens,
    cacheWrite1h: 0,
    output: usage.output_tokens - output.reasoning_tokens,
    reasoning: output.reasoning_tokens,
  }));

/** Messages: input tokens exclude cached tokens, output tokens include thinking. */
const messagesUsage = z
  .object({
    input_tokens: z.int(),
    cache_read_input_tokens: count,
    cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ thinking_tokens: count }),
  })
  .transform(({ cache_creation: written, output_tokens_details: { thinking_tokens: reasoning }, ...usage }) => ({
    input: usage.input_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: written.ephemeral_5m_input_tokens,
    cacheWrite1h: written.ephemeral_1h_input_tokens,
    output: usage.output_tokens - reasoning,
    reasoning,
  }));

/** GenerateContent: prompt tokens include cached tokens, candidate tokens exclude thoughts. */
const contentUsage = z
  .object({
    promptTokenCount: z.int(),
    cachedContentTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
  })
  .transform((usage) => ({
    input: usage.promptTokenCount - usage.cachedContentTokenCount,
    cacheRead: usage.cachedContentTokenCount,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: usage.candidatesTokenCount,
    reasoning: usage.thoughtsTokenCount,
  }));

/** Converts reported usage to disjoint counts. Throws if there is no usage. */
export const usageIn: Readonly<Record<Wire, (reported: unknown) => TokenUsage>> = {
  chat: (reported) => chatUsage.parse(reported),
  responses: (reported) => responsesUsage.parse(reported),
  messages: (reported) => messagesUsage.parse(reported),
  generateContent: (reported) => contentUsage.parse(reported),
};

export type Wire = 'chat' | 'responses' | 'messages' | 'generateContent';
