import * as z from 'zod';
import { errorSchemas } from '../error-schemas.ts';
import { count, unixSeconds, usd } from './forms.ts';
import { chatUsage, message, response, toolCall } from './text.ts';

/** CHAT-11. Data of every event except `[DONE]`. */
export const chatChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: unixSeconds,
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: count,
        delta: z.looseObject({
          role: z.string().optional(),
          content: z.string().nullable().optional(),
          refusal: z.string().nullable().optional(),
          tool_calls: z
            .array(
              z.looseObject({
                index: count,
                ...toolCall.partial().shape,
                function: toolCall.shape.function.partial().optional(),
              }),
            )
            .optional(),
        }),
        finish_reason: z
          .string()
          .nullable()
          .describe('`stop`, `length` or `tool_calls` in the last chunk with a choice.'),
      }),
    ),
    usage: z
      .looseObject({
        ...chatUsage.partial().shape,
        cost: z.number().min(0).describe('Charge in USD: a number with all digits, without an exponent.'),
        cost_usd: usd.describe('Charge in USD as a decimal string.'),
      })
      .nullable()
      .optional()
      .describe(
        'Only in the last chunk, whose `choices` are empty if the request has `stream_options.include_usage` of true.',
      ),
  })
  .meta({ id: 'ChatCompletionChunk', description: 'Data of one event. `[DONE]` follows the last event.' });

/** RESP-1. Other events of the provider have additional members. */
export const responseEvent = z
  .looseObject({
    type: z.string().describe('Name of the event, such as `response.output_text.delta`.'),
    sequence_number: count,
    response: response
      .partial()
      .optional()
      .describe('Partial in the first events, complete in `response.completed` and `response.incomplete`.'),
    item: z.looseObject({ type: z.string() }).optional(),
    output_index: count.optional(),
    content_index: count.optional(),
    delta: z.string().optional().describe('Next part of a text or of the arguments of a call.'),
    code: z.string().nullable().optional().describe('Error code. Only in `error` events.'),
    message: z.string().optional().describe('Error message. Only in `error` events.'),
    param: z.string().nullable().optional().describe('Field that caused the error. Only in `error` events.'),
  })
  .meta({ id: 'ResponseStreamEvent', description: 'Data of one event.' });

const block = z.looseObject({ type: z.string() });
const index = count;

/** MSG-1. Each event is a named component: generators name inline schemas by position and run out of names. */
export const messageEvent = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('message_start'), message }).meta({ id: 'MessageStartEvent' }),
    z
      .looseObject({ type: z.literal('content_block_start'), index, content_block: block })
      .meta({ id: 'ContentBlockStartEvent' }),
    z
      .looseObject({ type: z.literal('content_block_delta'), index, delta: block })
      .meta({ id: 'ContentBlockDeltaEvent' }),
    z.looseObject({ type: z.literal('content_block_stop'), index }).meta({ id: 'ContentBlockStopEvent' }),
    z
      .looseObject({
        type: z.literal('message_delta'),
        delta: z.looseObject({ stop_reason: z.string().nullable() }),
        usage: z.looseObject({ output_tokens: count }),
      })
      .meta({ id: 'MessageDeltaEvent' }),
    z.looseObject({ type: z.literal('message_stop') }).meta({ id: 'MessageStopEvent' }),
    z.looseObject({ type: z.literal('ping') }).meta({ id: 'PingEvent' }),
    errorSchemas.messages,
  ])
  .meta({ id: 'MessageStreamEvent', description: 'Data of one event.' });
