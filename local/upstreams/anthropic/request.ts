import * as z from 'zod';
import { anyObject, listOf } from '../../../lambdas/protocols/bounded.ts';
import { blocks, cacheControl, notList, textBlocks } from './request-blocks.ts';

/** Strict, as the vendor is: a field or block it does not know is refused, so that a gateway that lets one through is seen. */

const message = z.strictObject({ role: z.enum(['user', 'assistant']), content: blocks });

const inputSchema = anyObject.refine(({ type }) => type === 'object', {
  path: ['type'],
  message: "Input should be 'object'",
});

/** The vendor's own tools (`web_search_20250305` and the like) cost extra and are not played. */
const tool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z
    .string()
    .max(128)
    .regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: inputSchema,
  strict: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: listOf(anyObject, { max: 100, message: notList }).optional(),
  cache_control: cacheControl,
});

const disableParallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...disableParallel }),
  z.strictObject({ type: z.literal('any'), ...disableParallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...disableParallel }),
  z.strictObject({ type: z.literal('none') }),
]);

const display = z.enum(['summarized', 'omitted']).nullish();
const thinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('adaptive'), display }),
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024), display }),
  z.strictObject({ type: z.literal('disabled') }),
  z.strictObject({ type: z.literal('between_tools') }),
]);

const outputConfig = z.strictObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: z.strictObject({ type: z.literal('json_schema'), schema: anyObject }).nullish(),
});

const prompt = {
  model: z.string(),
  messages: listOf(message, { max: 100_000, message: notList }),
  system: textBlocks.optional(),
  tools: listOf(tool, { max: 10_000, message: notList }).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: outputConfig.optional(),
  cache_control: cacheControl,
};

export const countRequestSchema = z.strictObject(prompt);

export const messagesRequestSchema = z.strictObject({
  ...prompt,
  /** 0 fills the prompt cache and answers nothing. */
  max_tokens: z.int().min(0),
  stream: z.boolean().optional(),
  stop_sequences: listOf(z.string(), { max: 10_000, message: notList }).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  inference_geo: z.string().nullish(),
});

export type CountRequest = z.infer<typeof countRequestSchema>;
export type MessagesRequest = z.infer<typeof messagesRequestSchema>;
export type Message = CountRequest['messages'][number];
