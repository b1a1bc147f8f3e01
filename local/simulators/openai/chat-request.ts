import * as z from 'zod';

/**
 * Unknown members of messages, parts and calls are ignored, because no current rejection is documented. An unknown
 * top-level name is rejected: https://github.com/64bit/async-openai/issues/386
 */
const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string(), detail: z.enum(['auto', 'low', 'high', 'original']).nullish() }),
});
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });

const textContent = z.union([z.string(), z.array(textPart)]);
const name = z.string().nullish();

/** https://github.com/anomalyco/opencode/issues/12653 (2026-02-08); names: https://github.com/mcp-use/mcp-use/issues/90 */
const callId = z.string().min(1).max(40);

const toolCall = z.object({
  id: callId,
  type: z.literal('function'),
  function: z.object({ name: z.string().regex(/^[\w-]{1,64}$/), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: textContent, name }),
  z.object({ role: z.literal('developer'), content: textContent, name }),
  z.object({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart]))]),
    name,
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, refusalPart]))]).nullish(),
    refusal: z.string().nullish(),
    // An empty list is refused: https://github.com/openai/openai-node/pull/1341
    tool_calls: z.array(toolCall).min(1).nullish(),
    audio: z.null().optional(),
    function_call: z.null().optional(),
    name,
  }),
  z.object({
    role: z.literal('tool'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart]))]),
    tool_call_id: callId,
  }),
]);

const functionTool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string().regex(/^[\w-]{1,64}$/),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const tokenCount = z.int().min(1).nullish();

/** https://developers.openai.com/api/docs/guides/prompt-caching; a prefix is never cached here. */
export const promptCaching = {
  prompt_cache_key: z.string().nullish(),
  prompt_cache_options: z
    .object({ mode: z.enum(['implicit', 'explicit']).nullish(), ttl: z.string().nullish() })
    .nullish(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
};

export const chatRequestSchema = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  max_tokens: tokenCount,
  max_completion_tokens: tokenCount,
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  seed: z.int().nullish(),
  tools: z.array(functionTool).max(128).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  modalities: z.array(z.literal('text')).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  ...promptCaching,
  safety_identifier: z.string().nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  store: z.boolean().nullish(),
  user: z.string().nullish(),
  // Not simulated, so only values without an effect are accepted.
  ...{ audio: z.null().optional(), prediction: z.null().optional(), moderation: z.null().optional() },
  ...{ functions: z.null().optional(), function_call: z.null().optional(), web_search_options: z.null().optional() },
});

export type ChatRequest = z.infer<typeof chatRequestSchema>;
export type ChatMessage = ChatRequest['messages'][number];

/** Returns the text of one message; images and refusals have none. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

export function lastUserMessage(request: ChatRequest): Extract<ChatMessage, { role: 'user' }> | undefined {
  return request.messages.findLast((candidate) => candidate.role === 'user');
}

/** Returns URLs and detail of all images, in order. */
export function imagesOf(message: ChatMessage | undefined): readonly { url: string; detail?: string | null }[] {
  if (message?.role !== 'user' || typeof message.content === 'string') return [];
  return message.content.flatMap((part) => (part.type === 'image_url' ? [part.image_url] : []));
}

export function outputCap(request: ChatRequest): number {
  return request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
}
