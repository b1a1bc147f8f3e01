import * as z from 'zod';
import { anyObject, listOf, recordOf } from '../bounded.ts';
import { fields, guardedNames } from '../fields.ts';
import { messagesSchema } from './messages.ts';

const between = (low: number, high: number) =>
  z.number().min(low, `must be at least ${low}`).max(high, `must be at most ${high}`);
const cap = z.int().min(1, 'must be at least 1');
const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');
const listed = { unknown: 'list' } as const;

/** `cache_control` is accepted and not sent: cache rates exist on messages only (BILL-18). */
const tool = fields(
  {
    type: z.literal('function', 'must be "function": other tools need the responses endpoint'),
    function: fields(
      {
        name: functionName,
        description: z.string().optional(),
        parameters: anyObject.optional(),
        strict: z.boolean().optional(),
      },
      listed,
    ),
  },
  { ...listed, accepted: ['cache_control'] },
);

const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    fields({ type: z.literal('function'), function: fields({ name: functionName }, listed) }, listed),
  ],
  'must be "none", "auto", "required" or {type: "function", function: {name}}',
);

const responseFormat = z.discriminatedUnion('type', [
  fields({ type: z.literal('text') }, listed),
  fields({ type: z.literal('json_object') }, listed),
  fields(
    {
      type: z.literal('json_schema'),
      json_schema: fields(
        {
          name: functionName,
          description: z.string().optional(),
          strict: z.boolean().optional(),
          schema: anyObject.optional(),
        },
        listed,
      ),
    },
    listed,
  ),
]);

/** The fields of the specification's table with their ranges (CHAT-1). */
const specified = {
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  messages: messagesSchema,
  temperature: between(0, 2).nullish(),
  top_p: between(0, 1).nullish(),
  max_tokens: cap.nullish(),
  max_completion_tokens: cap.nullish(),
  n: z.int().min(1, 'must be at least 1').max(128, 'must be at most 128').nullish(),
  stop: z
    .union([z.string(), z.array(z.string()).max(16)], 'must be a string or an array of at most 16 strings')
    .nullish(),
  presence_penalty: between(-2, 2).nullish(),
  frequency_penalty: between(-2, 2).nullish(),
  stream: z.boolean().nullish(),
  stream_options: fields(
    { include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() },
    listed,
  ).nullish(),
  tools: listOf(tool, { max: 1_000, message: 'must be an array of tools' }).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: responseFormat.nullish(),
  seed: z.int().nullish(),
  user: z.string().nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  output_config: fields({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish() }, listed).nullish(),
};

/** Fields of the vendor's that cost nothing beyond what the hold knows (GEN-9). */
const harmless = {
  metadata: recordOf(z.string(), 16).nullish(),
  logit_bias: recordOf(between(-100, 100), 1_024).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z
    .enum(['in_memory', 'in-memory'], 'must be "in_memory": longer retention has a price of its own')
    .nullish(),
  prompt_cache_options: anyObject.nullish(),
  safety_identifier: z.string().nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  modalities: z.tuple([z.literal('text')], 'must be ["text"]: answers are text here').nullish(),
  service_tier: z
    .enum(['auto', 'default'], 'must be "auto" or "default": other tiers have prices of their own')
    .nullish(),
  store: z.literal(false, 'must be false: answers are not stored').nullish(),
};

/** https://platform.openai.com/docs/api-reference/chat/create. What becomes of each field is in `chat-fields.ts` and GEN-16. */
export const chatBody = fields(
  { ...specified, ...harmless },
  {
    unknown: 'list',
    guarded: guardedNames,
    refused: {
      prediction: 'predicted output has a price of its own. Leave it out.',
      audio: 'answers are text here. Use /v1/audio/speech for speech.',
      web_search_options: 'web search runs at the vendor and is not served. Leave it out.',
      moderation: 'not served with a chat. Use /v1/moderations.',
      functions: 'deprecated. Use tools.',
      function_call: 'deprecated. Use tool_choice.',
    },
  },
);

export type ChatBody = z.output<typeof chatBody>;
