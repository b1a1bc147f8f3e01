import * as z from 'zod';
import type { ImageDetail } from '../../core/text/conversation.ts';
import { type FieldPolicy, fields, guardedNames, type Refusal } from '../fields.ts';
import { anyObject, listOf, recordOf } from '../parse.ts';
import { foundTools, offeredTools, toolChoice, toolName } from './tools.ts';

const listed = { unknown: 'list' } as const;

const parts = { max: 10_000, message: 'must be a string or an array of parts' };
/**
 * Members that clients copy from a response, or add to it, are not sent, because the provider did not store what the
 * ids refer to.
 */
const copied = { unknown: 'accept' } as const;

const inputPart = (policy: Pick<FieldPolicy, 'unknown'>) =>
  [
    fields({ type: z.literal('input_text'), text: z.string() }, policy),
    fields(
      {
        type: z.literal('input_image'),
        image_url: z.string().min(1),
        detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
      },
      { ...policy, refused: { file_id: 'files are not stored here. Send image_url.' } },
    ),
    fields(
      {
        type: z.literal('input_file'),
        file_data: z.string().min(1).nullish(),
        file_url: z
          .string()
          .regex(/^https?:\/\//i, 'must be an http(s) URL')
          .refine((url) => URL.canParse(url), 'must be an http(s) URL')
          .nullish(),
        filename: z.string().nullish(),
        detail: z.enum(['auto', 'low', 'high']).nullish(),
      },
      { ...policy, refused: { file_id: 'files are not stored here. Send file_data or file_url.' } },
    ),
  ] as const;
const outputPart = [
  fields({ type: z.literal('output_text'), text: z.string() }, copied),
  fields({ type: z.literal('refusal'), refusal: z.string() }, copied),
] as const;

const contentOf = (policy: Pick<FieldPolicy, 'unknown'>) =>
  z.union(
    [z.string(), listOf(z.discriminatedUnion('type', [...inputPart(policy), ...outputPart]), parts)],
    parts.message,
  );

/** A message can omit its type. Every other item requires it. */
const messageType = z.literal('message').optional();
const message = z.discriminatedUnion('role', [
  fields(
    { type: messageType, role: z.literal(['user', 'system', 'developer']), content: contentOf(listed) },
    { ...listed, accepted: ['id', 'status', 'phase'] },
  ),
  fields(
    {
      type: messageType,
      role: z.literal('assistant'),
      content: contentOf(copied),
      phase: z.enum(['commentary', 'final_answer']).nullish(),
    },
    copied,
  ),
]);

const toolOutput = z.union([z.string(), listOf(z.discriminatedUnion('type', inputPart(copied)), parts)], parts.message);

const callId = z.string().min(1);
const called = {
  call_id: callId,
  name: z.string().min(1),
  namespace: z.string().min(1).nullish(),
};
/**
 * Caller of a tool, which is checked and not sent. Rejects calls made by programs, because programs run at the
 * provider.
 */
const caller = fields({ type: z.enum(['direct']) }, copied).nullish();
/** Required, because a search without it ran at the provider. */
const execution = z.enum(['client']);

const reasoningParts = { max: 1_000, message: 'must be an array' };
const reasoningItem = fields(
  {
    type: z.literal('reasoning'),
    id: z.string().nullish(),
    summary: listOf(fields({ type: z.literal('summary_text'), text: z.string() }, copied), reasoningParts),
    content: listOf(fields({ type: z.literal('reasoning_text'), text: z.string() }, copied), reasoningParts).nullish(),
    encrypted_content: z.string().nullish(),
  },
  copied,
);

const item = z.discriminatedUnion('type', [
  fields({ type: z.literal('function_call'), ...called, arguments: z.string(), caller }, copied),
  fields(
    {
      type: z.literal('function_call_output'),
      call_id: callId,
      output: toolOutput,
      namespace: called.namespace,
      caller,
    },
    copied,
  ),
  fields({ type: z.literal('custom_tool_call'), ...called, input: z.string(), caller }, copied),
  fields({ type: z.literal('custom_tool_call_output'), call_id: callId, output: toolOutput, caller }, copied),
  fields({ type: z.literal('tool_search_call'), call_id: callId, execution, arguments: z.unknown() }, copied),
  fields({ type: z.literal('tool_search_output'), call_id: callId, execution, tools: foundTools }, copied),
  reasoningItem,
  message,
]);

/**
 * https://platform.openai.com/docs/api-reference/responses/create#responses-create-input, without what the gateway
 * cannot look up or price: stored files, references to stored items, and the calls of tools that run at the provider. Members
 * are those of the package openai 7.55.0 (resources/responses/responses.d.ts), because the provider rejects others.
 */
export const inputSchema = z.union(
  [
    z.string().min(1, 'must not be empty'),
    listOf(item, { min: 1, max: 10_000, message: 'must be a string or an array with at least one item' }),
  ],
  'must be a string or an array of items',
);

export type ResponseInput = z.output<typeof inputSchema>;
type ResponseItem = Exclude<ResponseInput, string>[number];

interface InputImage {
  readonly kind: 'image';
  readonly url: string;
  readonly detail: ImageDetail;
  readonly param: string;
}

export interface InputFile {
  readonly kind: 'file';
  /** Content of the file. Without it, the provider opens `url`. */
  readonly data: string | undefined;
  readonly url: string | undefined;
  readonly param: string;
}

const partsOf = (entry: ResponseItem) => {
  if ('output' in entry) return { field: 'output', content: entry.output } as const;
  return { field: 'content', content: 'role' in entry ? entry.content : '' } as const;
};

/** All images and files of an input in its order, with their place. */
export const mediaOf = (input: ResponseInput): (InputImage | InputFile)[] => {
  if (typeof input === 'string') return [];
  return input.flatMap((entry, at) => {
    const { field, content } = partsOf(entry);
    if (typeof content === 'string') return [];
    return content.flatMap((part, index): (InputImage | InputFile)[] => {
      const param = `input[${at}].${field}[${index}]`;
      if (part.type === 'input_file') {
        return [{ kind: 'file', data: part.file_data ?? undefined, url: part.file_url ?? undefined, param }];
      }
      if (part.type !== 'input_image') return [];
      return [{ kind: 'image', url: part.image_url, detail: part.detail ?? 'auto', param: `${param}.image_url` }];
    });
  });
};

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
    /** Other modes have different prices. */
    mode: z.enum(['standard']).nullish(),
  },
  listed,
);

/** Fields of the specification (RESP-1). */
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

/** Provider fields that add no cost beyond the hold (GEN-9). */
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

/** Error for fields that need stored conversations, or that continue after the response (RESP-4). */
const unsupported = (advice: string): Refusal => ({
  code: 'unsupported_parameter',
  message: `not supported here. ${advice}`,
});
const wholeHistory = unsupported('Conversations are not stored. Send the whole history with every request.');

/** Source: https://platform.openai.com/docs/api-reference/responses/create */
export const responsesBody = fields(
  { ...specified, ...harmless },
  {
    unknown: 'list',
    guarded: guardedNames,
    /** Data of Codex that must not leave the gateway. */
    accepted: ['client_metadata'],
    refused: {
      previous_response_id: wholeHistory,
      conversation: wholeHistory,
      store: unsupported('Responses are not stored. Remove the field.'),
      background: unsupported('Remove the field, and stream the response if it takes long.'),
      prompt: 'prompts are not stored here. Send instructions and input.',
      context_management: 'compaction is not supported, because it is a second pass of the model. Remove the field.',
      moderation: 'moderation is not supported here. Use /v1/moderations.',
    },
  },
);

export type ResponsesBody = z.output<typeof responsesBody>;
