import * as z from 'zod';
import { promptCaching } from './chat-request.ts';
import { type InputItem, inputItem } from './responses-items.ts';
import { toolChoice, tools } from './responses-tools.ts';

const textFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().nullish(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullish(),
  }),
]);

const includable = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
] as const;

/** An unknown name is refused: https://github.com/openai/openai-python/issues/2621 */
export const responsesRequestSchema = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(inputItem)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().nullish() }).nullish(),
  max_output_tokens: z.int().nullish(),
  max_tool_calls: z.int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: tools.nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z
    .strictObject({
      context: z.enum(['auto', 'current_turn', 'all_turns']).nullish(),
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      mode: z.literal('standard').nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
      // Deprecated, and still in the published document of 2026-08.
      generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({ format: textFormat.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() })
    .nullish(),
  include: z.array(z.enum(includable)).nullish(),
  store: z.boolean().nullish(),
  background: z.literal(false).nullish(),
  previous_response_id: z.string().nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  client_metadata: z.record(z.string(), z.unknown()).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  ...promptCaching,
  safety_identifier: z.string().nullish(),
  user: z.string().nullish(),
  // Not simulated, so only values without an effect are accepted.
  ...{ conversation: z.null().optional(), prompt: z.null().optional(), moderation: z.null().optional() },
  context_management: z.null().optional(),
});

export type ResponsesRequest = z.infer<typeof responsesRequestSchema>;

/** Returns the input as items; a string becomes one user message. */
export function itemsOf({ input }: ResponsesRequest): readonly InputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

export function includesEncryptedReasoning(request: ResponsesRequest): boolean {
  return request.include?.includes('reasoning.encrypted_content') === true;
}
