import * as z from 'zod';
import { type FieldPolicy, fields, guardedNames } from '../fields.ts';
import { anyObject, listOf } from '../parse.ts';
import { cacheControl, effort, messagesSchema, texts, tool } from './blocks.ts';

const fraction = z.number().min(0, 'must be at least 0').max(1, 'must be at most 1');
const listed: FieldPolicy = { unknown: 'list' };

const names = listOf(z.string(), { max: 10_000, message: 'must be an array of names' });

const parallel = { disable_parallel_tool_use: z.boolean().optional() };

const toolChoice = z.discriminatedUnion('type', [
  fields({ type: z.literal('auto'), ...parallel }, listed),
  fields({ type: z.literal('any'), ...parallel }, listed),
  fields({ type: z.literal('tool'), name: z.string().min(1), ...parallel }, listed),
  fields({ type: z.literal('none') }, listed),
]);

const shownThinking = {
  display: z.enum(['summarized', 'omitted', 'updates']).optional(),
  block_binding: fields({ prefix_mismatch_behavior: z.enum(['error', 'drop_block']).optional() }, listed).optional(),
};

const thinking = z.discriminatedUnion('type', [
  fields({ type: z.literal('adaptive'), ...shownThinking }, listed),
  fields(
    { type: z.literal('enabled'), budget_tokens: z.int().min(1_024, 'must be at least 1024'), ...shownThinking },
    listed,
  ),
  fields({ type: z.literal('disabled') }, listed),
  fields({ type: z.literal('between_tools') }, listed),
]);

const format = fields({ type: z.literal('json_schema'), schema: anyObject }, listed).optional();

const outputConfig = fields(
  {
    effort: effort.optional(),
    format,
    task_budget: fields(
      { type: z.literal('tokens'), total: z.int().min(0), remaining: z.int().min(0).optional() },
      listed,
    ).optional(),
  },
  listed,
);

const amountOf = <const Types extends readonly [string, ...string[]]>(...types: Types) =>
  fields({ type: z.enum(types), value: z.int().min(0) }, listed).optional();

/** Settings that clear earlier turns from the prompt, and so only shorten it. */
const contextManagement = fields(
  {
    edits: listOf(
      z.discriminatedUnion(
        'type',
        [
          fields(
            {
              type: z.literal('clear_tool_uses_20250919'),
              trigger: amountOf('input_tokens', 'tool_uses'),
              keep: amountOf('tool_uses'),
              clear_at_least: amountOf('input_tokens'),
              clear_tool_inputs: z.union([z.boolean(), names]).optional(),
              exclude_tools: names.optional(),
            },
            listed,
          ),
          fields(
            {
              type: z.literal('clear_thinking_20251015'),
              keep: z
                .union([
                  z.literal('all'),
                  fields({ type: z.literal('all') }, listed),
                  fields({ type: z.literal('thinking_turns'), value: z.int().min(0) }, listed),
                ])
                .optional(),
            },
            listed,
          ),
        ],
        {
          error: ({ code }) =>
            code === 'invalid_union'
              ? 'must be "clear_tool_uses_20250919" or "clear_thinking_20251015": summaries are a second model call and are not supported'
              : undefined,
        },
      ),
      { max: 100, message: 'must be an array of edits' },
    ).optional(),
  },
  listed,
);

/** Fields that cost more than the hold covers, or need data that the gateway does not store (GEN-9). */
const refused: FieldPolicy['refused'] = {
  /**
   * The SDK's tool runner requests a thread, and continues without one if the error has these details (`ThreadState`,
   * 1.11.0).
   */
  thread: {
    code: 'invalid_request_error',
    message: 'the gateway does not store conversations. Remove the field and send the whole history.',
    sdkDetails: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  },
  mcp_servers: 'servers that the provider calls are not supported. Remove the field and call them in the client.',
  container: 'containers run at the provider and are not supported. Remove the field.',
  compaction: 'a summary is a second model call and is not supported. Remove the field.',
  fallbacks: 'fallbacks to other models of the provider are not supported. Remove the field.',
  fallback_credit_token: 'fallbacks to other models of the provider are not supported. Remove the field.',
  billing_policy: 'the gateway pays the provider. Remove the field.',
  inference_geo: 'a choice of region is not supported, because its price differs. Remove the field.',
};

/** Fields of a prompt. */
const prompt = {
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  messages: messagesSchema,
  system: texts.optional(),
  tools: listOf(tool, { max: 10_000, message: 'must be an array of tools' }).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: outputConfig.optional(),
  /** Field that LiteLLM and older SDKs send. */
  output_format: format,
  context_management: contextManagement.optional(),
  cache_control: cacheControl,
  speed: z.literal('standard', 'must be "standard": the fast mode is not supported').optional(),
};

const answer = {
  /** 0 fills the prompt cache and returns no output. */
  max_tokens: z.int().min(0, 'must be at least 0'),
  stop_sequences: listOf(z.string(), { max: 1_000, message: 'must be an array of strings' }).optional(),
  temperature: fraction.optional(),
  top_p: fraction.optional(),
  top_k: z.int().min(0, 'must be at least 0').optional(),
  stream: z.boolean().optional(),
  service_tier: z
    .enum(['auto', 'standard_only'], 'must be "auto" or "standard_only": other tiers are not supported')
    .optional(),
  metadata: fields({ user_id: z.string().optional() }, listed).optional(),
};

const root: FieldPolicy = { ...listed, guarded: guardedNames, refused };

/** https://platform.claude.com/docs/en/api/messages. MSG-1 and GEN-16 define the treatment of each field. */
export const messagesBody = fields({ ...prompt, ...answer }, root);

/** Body of a count request. Fields that concern only the output are ignored. */
export const countBody = fields(prompt, { ...root, listed: Object.keys(answer) });

export type MessagesBody = z.output<typeof messagesBody>;
export type CountBody = z.output<typeof countBody>;
/** Body of either kind of request. */
export type PromptBody = CountBody & Partial<Omit<MessagesBody, keyof CountBody>>;
