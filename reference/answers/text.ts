import * as z from 'zod';
import { count, unixSeconds } from './forms.ts';

export const toolCall = z.looseObject({
  id: z.string(),
  type: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string().describe('JSON as the model wrote it.') }),
});

export const chatUsage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count }).optional(),
});

/** Response of chat completions (CHAT-10). */
export const chatCompletion = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: unixSeconds,
    model: z.string().describe('Model that created the output: the requested model, or a fallback model.'),
    choices: z.array(
      z.looseObject({
        index: count,
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          tool_calls: z.array(toolCall).optional(),
        }),
        logprobs: z.looseObject({}).nullable(),
        finish_reason: z.string().describe('`stop`, `length` or `tool_calls`.'),
      }),
    ),
    usage: chatUsage.optional(),
  })
  .meta({ id: 'ChatCompletion' });

/** Response of responses (RESP-1). */
export const response = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.number().min(0).describe('Unix seconds.'),
    model: z.string(),
    status: z.enum(['completed', 'incomplete', 'in_progress', 'queued', 'failed']),
    output: z
      .array(z.looseObject({ type: z.string() }))
      .describe('The message is the first item. Its text is `output[0].content[0].text`.'),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable().optional(),
  })
  .meta({ id: 'ResponseObject' });

/** Response of messages (MSG-1). */
export const message = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z
      .array(z.looseObject({ type: z.string() }))
      .describe('Content blocks, such as `thinking`, `text` and `tool_use`.'),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    usage: z.looseObject({
      input_tokens: count.describe('Charged at the input price.'),
      output_tokens: count,
      cache_creation_input_tokens: count
        .nullable()
        .optional()
        .describe(
          'Tokens written to a cache. Charged at the cache write prices, by default 1.25 (5 min) or 2 (1 h) times the input price.',
        ),
      cache_read_input_tokens: count
        .nullable()
        .optional()
        .describe(
          'Tokens read from a cache. Charged at the cache read price of the model, by default 0.1 times the input price.',
        ),
    }),
  })
  .meta({ id: 'Message' });

/** Response of the token count for messages (BILL-17). */
export const messageTokens = z.looseObject({ input_tokens: count }).meta({ id: 'MessageTokens' });

/** Response of generateContent (GEM-1). */
export const generatedContent = z
  .looseObject({
    candidates: z
      .array(
        z.looseObject({
          index: count.optional(),
          content: z
            .looseObject({
              role: z.string().optional(),
              parts: z.array(z.looseObject({ text: z.string().optional() })).optional(),
            })
            .optional(),
          finishReason: z.string().optional(),
        }),
      )
      .optional()
      .describe('Absent if the prompt was blocked.'),
    promptFeedback: z
      .looseObject({ blockReason: z.string().optional() })
      .optional()
      .describe('Why the prompt was blocked.'),
    usageMetadata: z
      .looseObject({
        promptTokenCount: count.optional(),
        candidatesTokenCount: count.optional(),
        thoughtsTokenCount: count.optional().describe('Charged as output.'),
        totalTokenCount: count.optional(),
      })
      .optional(),
    modelVersion: z.string().optional(),
    responseId: z.string().optional(),
  })
  .meta({ id: 'GeneratedContent' });

/** Response of the token count for generateContent (BILL-17). */
export const contentTokens = z.looseObject({ totalTokens: count }).meta({ id: 'ContentTokens' });
