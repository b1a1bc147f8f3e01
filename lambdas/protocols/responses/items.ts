import * as z from 'zod';
import type { ImageDetail } from '../../core/text/conversation.ts';
import { listOf } from '../bounded.ts';
import { type FieldPolicy, fields } from '../fields.ts';
import { foundTools } from './tools.ts';

const parts = { max: 10_000, message: 'must be a string or an array of parts' };
const listed = { unknown: 'list' } as const;
/** Members that clients copy from a response, or add to it, are not sent: ids refer to what the provider has not stored. */
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

/** A message may leave its type out. Every other item names it. */
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
/** Checked and not sent. Calls of programs run at the provider. */
const caller = fields({ type: z.enum(['direct']) }, copied).nullish();
/** A search without it ran at the provider. */
const execution = z.enum(['client']);

const reasoningParts = { max: 1_000, message: 'must be an array' };
const reasoning = fields(
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
  reasoning,
  message,
]);

/**
 * https://platform.openai.com/docs/api-reference/responses/create#responses-create-input, without what the gateway could not look
 * up or price: files, references to stored items, and the calls of tools that run at the provider. Members are those of the package
 * openai 7.55.0 (resources/responses/responses.d.ts), since the provider refuses others.
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
  readonly url: string;
  readonly detail: ImageDetail;
  readonly param: string;
}

const partsOf = (entry: ResponseItem) => {
  if ('output' in entry) return { field: 'output', content: entry.output } as const;
  return { field: 'content', content: 'role' in entry ? entry.content : '' } as const;
};

/** Every image of an input, with its place. */
export const imagesOf = (input: ResponseInput): InputImage[] => {
  if (typeof input === 'string') return [];
  return input.flatMap((entry, at) => {
    const { field, content } = partsOf(entry);
    if (typeof content === 'string') return [];
    return content.flatMap((part, index) =>
      part.type === 'input_image'
        ? [{ url: part.image_url, detail: part.detail ?? 'auto', param: `input[${at}].${field}[${index}].image_url` }]
        : [],
    );
  });
};
