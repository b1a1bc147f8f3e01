import * as z from 'zod';
import { type InputItem, inputItem } from './responses-items.ts';

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: z.string().regex(/^[\w-]{1,64}$/),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const textFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().optional(),
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

export const responsesRequestSchema = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(inputItem)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  max_output_tokens: z.int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  tools: z.array(functionTool).max(128).optional(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.strictObject({ type: z.literal('function'), name: z.string() })])
    .optional(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({ format: textFormat.optional(), verbosity: z.enum(['low', 'medium', 'high']).nullish() })
    .optional(),
  include: z.array(z.enum(includable)).nullish(),
  store: z.boolean().nullish(),
  background: z.literal(false).nullish(),
  conversation: z.null().optional(),
  previous_response_id: z.string().nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.literal('in_memory').nullish(),
  safety_identifier: z.string().nullish(),
  user: z.string().optional(),
});

export type ResponsesRequest = z.infer<typeof responsesRequestSchema>;

/** The input as items, a string being one user message. */
export function itemsOf({ input }: ResponsesRequest): readonly InputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

export function includesEncryptedReasoning(request: ResponsesRequest): boolean {
  return request.include?.includes('reasoning.encrypted_content') === true;
}
