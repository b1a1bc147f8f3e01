import * as z from 'zod';
import { anyObject, listOf } from '../../../lambdas/protocols/parse.ts';
import { isRecord } from '../json-sample.ts';
import { clientToolType } from './client-tools.ts';
import { blocks, cacheControl, notList, textBlocks } from './request-blocks.ts';

/** Fields of a beta are part of the schemas; `beta-rules.ts` refuses them without their header. */

const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish();

const message = z.preprocess(
  // A system message that only changes the effort has no content.
  (value) => (isRecord(value) && value.role === 'system' ? { content: [], ...value } : value),
  z.strictObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: blocks,
    output_config: z.strictObject({ effort }).nullish(),
    clear_at: z.enum(['next_user_message', 'never']).nullish(),
  }),
);

const inputSchema = anyObject.refine(({ type }) => type === 'object', {
  path: ['type'],
  message: "Input should be 'object'",
});

const sharedByTools = {
  allowed_callers: listOf(z.enum(['direct', 'code_execution_20250825', 'code_execution_20260120']), {
    max: 10,
    message: notList,
  }).optional(),
  defer_loading: z.boolean().optional(),
  input_examples: listOf(anyObject, { max: 100, message: notList }).optional(),
  strict: z.boolean().optional(),
  cache_control: cacheControl,
};

/** Tools that run at the provider (`web_search_20250305`) cost extra and are not simulated. */
const tool = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('custom').nullish(),
    name: z
      .string()
      .max(128)
      .regex(/^[a-zA-Z0-9_-]{1,128}$/),
    description: z.string().optional(),
    input_schema: inputSchema,
    eager_input_streaming: z.boolean().nullish(),
    ...sharedByTools,
  }),
  z.strictObject({
    type: clientToolType,
    name: z.string(),
    max_characters: z.int().nullish(),
    ...sharedByTools,
  }),
]);

const disableParallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...disableParallel }),
  z.strictObject({ type: z.literal('any'), ...disableParallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...disableParallel }),
  z.strictObject({ type: z.literal('none') }),
]);

const display = z.enum(['summarized', 'omitted', 'updates']).nullish();
const thinking = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('adaptive'),
    display,
    block_binding: z.strictObject({ prefix_mismatch_behavior: z.string().nullish() }).nullish(),
  }),
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024), display }),
  z.strictObject({ type: z.literal('disabled') }),
  z.strictObject({ type: z.literal('between_tools') }),
]);

const outputConfig = z.strictObject({
  effort,
  format: z.strictObject({ type: z.literal('json_schema'), schema: anyObject }).nullish(),
  task_budget: z.strictObject({ type: z.literal('tokens'), total: z.int(), remaining: z.int().nullish() }).nullish(),
});

/** https://platform.claude.com/docs/en/build-with-claude/context-editing; a compaction is not simulated. */
const countOf = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: z.int().min(0) });
const edit = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('clear_tool_uses_20250919'),
    trigger: z.discriminatedUnion('type', [countOf('input_tokens'), countOf('tool_uses')]).optional(),
    keep: countOf('tool_uses').optional(),
    clear_at_least: countOf('input_tokens').nullish(),
    exclude_tools: listOf(z.string(), { max: 1_000, message: notList }).nullish(),
    clear_tool_inputs: z.union([z.boolean(), z.array(z.string())]).nullish(),
  }),
  z.strictObject({
    type: z.literal('clear_thinking_20251015'),
    keep: z.union([z.literal('all'), z.strictObject({ type: z.literal('all') }), countOf('thinking_turns')]).optional(),
  }),
]);
const contextManagement = z.strictObject({ edits: listOf(edit, { max: 10, message: notList }).optional() });

const prompt = {
  model: z.string(),
  messages: listOf(message, { max: 100_000, message: notList }),
  system: textBlocks.optional(),
  tools: listOf(tool, { max: 10_000, message: notList }).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: outputConfig.optional(),
  context_management: contextManagement.optional(),
  speed: z.literal('standard').optional(),
  cache_control: cacheControl,
};

export const countRequestSchema = z.strictObject(prompt);

export const messagesRequestSchema = z.strictObject({
  ...prompt,
  /** 0 fills the prompt cache and generates nothing. */
  max_tokens: z.int().min(0),
  stream: z.boolean().optional(),
  stop_sequences: listOf(z.string(), { max: 10_000, message: notList }).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  /** The limit: https://github.com/vercel/ai/pull/12419 */
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  inference_geo: z.string().nullish(),
});

export type CountRequest = z.infer<typeof countRequestSchema>;
export type MessagesRequest = z.infer<typeof messagesRequestSchema>;
export type Tool = NonNullable<CountRequest['tools']>[number];
export type ContextEdit = z.infer<typeof edit>;
export type Message = CountRequest['messages'][number];
