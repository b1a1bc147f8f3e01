import * as z from 'zod';
import type { ImageDetail } from '../../core/text/text-request.ts';
import { listOf, showAs } from '../bounded.ts';

const parts = { max: 10_000, message: 'must be a string or an array of parts' };
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish();

const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string().min(1),
  detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
});
/** `parsed` is put there by helpers of the SDK. */
const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.unknown().optional(),
  logprobs: z.unknown().optional(),
  parsed: z.unknown().optional(),
});
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const inputParts = listOf(z.discriminatedUnion('type', [inputText, inputImage]), parts);
const anyParts = listOf(z.discriminatedUnion('type', [inputText, inputImage, outputText, refusal]), parts);

const message = z.strictObject({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), anyParts], parts.message),
  id: z.string().nullish(),
  status,
  phase: z.enum(['commentary', 'final_answer']).nullish(),
});

const functionCall = z.strictObject({
  type: z.literal('function_call'),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  id: z.string().nullish(),
  status,
  parsed_arguments: z.unknown().optional(),
});

const functionCallOutput = z.strictObject({
  type: z.literal('function_call_output'),
  call_id: z.string().min(1),
  output: z.union([z.string(), inputParts], parts.message),
  id: z.string().nullish(),
  status,
});

const summary = z.strictObject({ type: z.literal('summary_text'), text: z.string() });
const reasoningText = z.strictObject({ type: z.literal('reasoning_text'), text: z.string() });

const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: z.string().nullish(),
  summary: listOf(summary, { max: 1_000, message: 'must be an array' }),
  content: listOf(reasoningText, { max: 1_000, message: 'must be an array' }).nullish(),
  encrypted_content: z.string().nullish(),
  status,
});

/** A message may leave its type out; every other item of a list names it. */
const item = showAs(
  z.preprocess(
    (value) =>
      typeof value === 'object' && value !== null && !('type' in value) ? { type: 'message', ...value } : value,
    z.discriminatedUnion('type', [message, functionCall, functionCallOutput, reasoning]),
  ),
  { kind: 'like', other: z.union([message.partial({ type: true }), functionCall, functionCallOutput, reasoning]) },
);

/**
 * https://platform.openai.com/docs/api-reference/responses/create#responses-create-input, without what the gateway could not look
 * up or price: files, references to stored items, and the calls of tools that run at the vendor.
 */
export const inputSchema = z.union(
  [
    z.string().min(1, 'must not be empty'),
    listOf(item, { min: 1, max: 10_000, message: 'must be a string or an array with at least one item' }),
  ],
  'must be a string or an array of items',
);

export type ResponseInput = z.output<typeof inputSchema>;
export type ResponseItem = Exclude<ResponseInput, string>[number];

export interface InputImage {
  readonly url: string;
  readonly detail: ImageDetail;
  readonly param: string;
}

/** Every image of an input with where it stands. */
export const imagesOf = (input: ResponseInput): InputImage[] => {
  if (typeof input === 'string') return [];
  return input.flatMap((entry, at) => {
    const [field, content] =
      entry.type === 'message'
        ? (['content', entry.content] as const)
        : (['output', entry.type === 'function_call_output' ? entry.output : ''] as const);
    if (typeof content === 'string') return [];
    return content.flatMap((part, index) =>
      part.type === 'input_image'
        ? [{ url: part.image_url, detail: part.detail ?? 'auto', param: `input[${at}].${field}[${index}].image_url` }]
        : [],
    );
  });
};
