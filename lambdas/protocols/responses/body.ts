import * as z from 'zod';
import { anyObject, listOf, recordOf } from '../bounded.ts';
import { fields, guardedNames, type Refusal } from '../fields.ts';
import { inputSchema } from './items.ts';
import { offeredTools, toolChoice, toolName } from './tools.ts';

const listed = { unknown: 'list' } as const;

const format = z.discriminatedUnion('type', [
  fields({ type: z.literal('text') }, listed),
  fields({ type: z.literal('json_object') }, listed),
  fields(
    {
      type: z.literal('json_schema'),
      name: toolName,
      description: z.string().nullish(),
      schema: anyObject,
      strict: z.boolean().nullish(),
    },
    listed,
  ),
]);

const summary = z.enum(['auto', 'concise', 'detailed']).nullish();

const reasoning = fields(
  {
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
    summary,
    generate_summary: summary,
    context: z.enum(['auto', 'current_turn', 'all_turns']).nullish(),
    /** Other modes have prices of their own. */
    mode: z.enum(['standard']).nullish(),
  },
  listed,
);

/** The fields of the specification (RESP-1). */
const specified = {
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  input: inputSchema,
  instructions: z.string().nullish(),
  tools: offeredTools.nullish(),
  reasoning: reasoning.nullish(),
  temperature: z.number().min(0, 'must be at least 0').max(2, 'must be at most 2').nullish(),
  max_output_tokens: z.int().min(1, 'must be at least 1').nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
};

/** Fields of the provider's that cost nothing beyond the hold (GEN-9). */
const harmless = {
  top_p: z.number().min(0, 'must be at least 0').max(1, 'must be at most 1').nullish(),
  top_logprobs: z.int().min(0, 'must be at least 0').max(20, 'must be at most 20').nullish(),
  text: fields({ format: format.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() }, listed).nullish(),
  include: listOf(z.string(), { max: 100, message: 'must be an array of strings' }).nullish(),
  metadata: recordOf(z.string(), 16).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.enum(['in_memory', 'in-memory']).nullish(),
  prompt_cache_options: anyObject.nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  stream_options: fields({ include_obfuscation: z.boolean().nullish() }, listed).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
};

/** RESP-4: what needs a memory of conversations, or goes on after the response. */
const unsupported = (advice: string): Refusal => ({
  code: 'unsupported_parameter',
  message: `not supported here. ${advice}`,
});
const wholeHistory = unsupported('Conversations are not kept: send the whole history with every request.');

/** https://platform.openai.com/docs/api-reference/responses/create */
export const responsesBody = fields(
  { ...specified, ...harmless },
  {
    unknown: 'list',
    guarded: guardedNames,
    /** Bookkeeping of Codex that must not leave the gateway. */
    accepted: ['client_metadata'],
    refused: {
      previous_response_id: wholeHistory,
      conversation: wholeHistory,
      store: unsupported('Answers are not kept: leave it out.'),
      background: unsupported('Leave it out, and stream the answer if it takes long.'),
      prompt: 'prompts are not stored here. Send instructions and input.',
      context_management: 'compaction is a second pass of the model with a price of its own. Leave it out.',
      moderation: 'moderation has a price of its own. Use /v1/moderations.',
    },
  },
);

export type ResponsesBody = z.output<typeof responsesBody>;
