import * as z from 'zod';

/**
 * Requests, responses and events of Open Responses, version 2026-04-24, without compaction and WebSockets:
 * https://www.openresponses.org, https://github.com/openresponses/openresponses (public/openapi/openapi.json, read on
 * 2026-11-29). Lists facts of that document: names, types, limits and required members. Unknown members are allowed,
 * as there.
 */
const object = z.looseObject;
const text = z.string();
const count = z.int();
const nullableText = text.nullable();
const longText = text.max(10_485_760);

const of = <const Type extends string>(type: Type) => ({ type: z.literal(type) });

const toolName = text.regex(/^[a-zA-Z0-9_-]{1,64}$/);
const callId = text.min(1).max(64);
const phase = z.enum(['commentary', 'final_answer']).optional();
const status = z.enum(['in_progress', 'completed', 'incomplete']);

const inputText = object({ ...of('input_text'), text: longText });
const inputImage = object({
  ...of('input_image'),
  image_url: text.max(20_971_520).nullish(),
  detail: z.enum(['low', 'high', 'auto']).nullish(),
});
const inputFile = object({ ...of('input_file'), file_data: text.nullish(), file_url: text.nullish() });
const saidText = object({ ...of('output_text'), text: longText, annotations: z.array(z.unknown()).optional() });
const saidRefusal = object({ ...of('refusal'), refusal: longText });
const summaryText = object({ ...of('summary_text'), text: longText });

const contentOf = <Part extends z.ZodType>(part: Part) => z.union([longText, z.array(part)]);
const sentMessage = { ...of('message'), id: nullableText.optional(), status: nullableText.optional() };

const item = z.union([
  object({
    ...sentMessage,
    role: z.literal('user'),
    content: contentOf(z.union([inputText, inputImage, inputFile])),
  }),
  object({ ...sentMessage, role: z.literal(['system', 'developer']), content: contentOf(inputText) }),
  object({
    ...sentMessage,
    role: z.literal('assistant'),
    content: contentOf(z.union([saidText, saidRefusal])),
    phase,
  }),
  object({ ...of('function_call'), call_id: callId, name: toolName, arguments: text, status: status.nullish() }),
  object({
    ...of('function_call_output'),
    call_id: callId,
    output: contentOf(z.union([inputText, inputImage, inputFile])),
    status: status.nullish(),
  }),
  object({
    ...of('reasoning'),
    id: nullableText.optional(),
    summary: z.array(summaryText),
    content: z.null().optional(),
    encrypted_content: text.nullish(),
  }),
  object({ type: z.literal('item_reference').nullish(), id: text }),
]);

const choiceValue = z.enum(['none', 'auto', 'required']);
const namedFunction = object({ ...of('function'), name: text });
const allowedTools = object({ ...of('allowed_tools'), tools: z.array(namedFunction), mode: choiceValue.optional() });

export const createResponse = object({
  model: text.nullish(),
  input: z.union([longText, z.array(item)]).nullish(),
  previous_response_id: text.nullish(),
  include: z.array(z.enum(['reasoning.encrypted_content', 'message.output_text.logprobs'])).optional(),
  tools: z
    .array(
      object({
        ...of('function'),
        name: toolName,
        description: text.nullish(),
        parameters: object({}).nullish(),
        strict: z.boolean().optional(),
      }),
    )
    .nullish(),
  tool_choice: z.union([choiceValue, namedFunction, allowedTools]).nullish(),
  metadata: z
    .record(text.max(64), text.max(512))
    .refine((entries) => Object.keys(entries).length <= 16)
    .nullish(),
  text: object({
    format: z
      .union([
        object(of('text')),
        object({
          ...of('json_schema'),
          name: text.optional(),
          schema: object({}).optional(),
          strict: z.boolean().nullish(),
        }),
      ])
      .nullish(),
    verbosity: z.enum(['low', 'medium', 'high']).optional(),
  }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().optional(),
  stream_options: object({ include_obfuscation: z.boolean().optional() }).nullish(),
  background: z.boolean().optional(),
  max_output_tokens: count.min(16).nullish(),
  max_tool_calls: count.min(1).nullish(),
  reasoning: object({
    effort: z.enum(['none', 'low', 'medium', 'high', 'xhigh']).nullish(),
    summary: z.enum(['concise', 'detailed', 'auto']).nullish(),
  }).nullish(),
  safety_identifier: text.max(64).nullish(),
  prompt_cache_key: text.max(64).nullish(),
  truncation: z.enum(['auto', 'disabled']).optional(),
  instructions: text.nullish(),
  store: z.boolean().optional(),
  service_tier: z.enum(['auto', 'default', 'flex', 'priority']).optional(),
  top_logprobs: count.min(0).max(20).nullish(),
});

const part = z.union([
  object({ ...of('output_text'), text, annotations: z.array(z.unknown()), logprobs: z.array(z.unknown()).optional() }),
  object({ ...of('refusal'), refusal: text }),
  object({ type: z.literal(['input_text', 'text', 'summary_text', 'reasoning_text']), text }),
]);

const outputItem = z.union([
  object({ ...of('message'), id: text, status, role: z.literal('assistant'), content: z.array(part), phase }),
  object({ ...of('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  object({ ...of('reasoning'), id: text, summary: z.array(part), encrypted_content: text.optional() }),
]);

const usage = object({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: object({ cached_tokens: count }),
  output_tokens_details: object({ reasoning_tokens: count }),
});

const tool = object({
  ...of('function'),
  name: text,
  description: nullableText,
  parameters: object({}).nullable(),
  strict: z.boolean().nullable(),
});

/** The document allows only null as the schema of a format, although the provider returns the schema. */
const format = z.union([
  object({ type: z.literal(['text', 'json_object']) }),
  object({
    ...of('json_schema'),
    name: text,
    description: nullableText,
    schema: object({}).nullable(),
    strict: z.boolean(),
  }),
]);

export const responseResource = object({
  id: text,
  object: z.literal('response'),
  created_at: count,
  completed_at: count.nullable(),
  status: text,
  incomplete_details: object({ reason: text }).nullable(),
  model: text,
  previous_response_id: nullableText,
  instructions: nullableText,
  output: z.array(outputItem),
  error: object({ code: text, message: text }).nullable(),
  tools: z.array(tool),
  tool_choice: z.union([choiceValue, object({ ...of('function'), name: text.optional() }), allowedTools]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: object({ format, verbosity: z.enum(['low', 'medium', 'high']).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: object({ effort: nullableText, summary: nullableText }).nullable(),
  usage: usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.unknown(),
  safety_identifier: nullableText,
  prompt_cache_key: nullableText,
});

/** Error of a plain response and of an `error` event. */
export const errorPayload = object({ type: text, code: nullableText, message: text, param: nullableText });

const numbered = { sequence_number: count };
const onItem = { ...numbered, output_index: count };
const inItem = { ...onItem, item_id: text };
const inContent = { ...inItem, content_index: count };
const inSummary = { ...inItem, summary_index: count };

export const streamEvent = z.discriminatedUnion('type', [
  object({
    type: z.literal(
      ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map((name) => `response.${name}`),
    ),
    ...numbered,
    response: responseResource,
  }),
  object({
    type: z.literal(['response.output_item.added', 'response.output_item.done']),
    ...onItem,
    item: outputItem.nullable(),
  }),
  object({ type: z.literal(['response.content_part.added', 'response.content_part.done']), ...inContent, part }),
  object({ type: z.literal(['response.output_text.delta', 'response.refusal.delta']), ...inContent, delta: text }),
  object({ ...of('response.output_text.done'), ...inContent, text }),
  object({ ...of('response.refusal.done'), ...inContent, refusal: text }),
  object({ ...of('response.function_call_arguments.delta'), ...inItem, delta: text }),
  object({ ...of('response.function_call_arguments.done'), ...inItem, arguments: text }),
  object({
    type: z.literal(['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done']),
    ...inSummary,
    part,
  }),
  object({ ...of('response.reasoning_summary_text.delta'), ...inSummary, delta: text }),
  object({ ...of('response.reasoning_summary_text.done'), ...inSummary, text }),
  object({ ...of('error'), ...numbered, error: errorPayload }),
]);
