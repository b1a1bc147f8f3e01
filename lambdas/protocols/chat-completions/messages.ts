import * as z from 'zod';
import { listOf } from '../bounded.ts';
import { type FieldPolicy, fields } from '../fields.ts';

/**
 * Caching is priced only in the native messages format (BILL-18). `id` and `status` are the bookkeeping of clients. Both are
 * accepted and not sent.
 */
const written: FieldPolicy = { unknown: 'list', accepted: ['cache_control', 'id', 'status'] };
/** Clients copy these objects from earlier answers, with members that mean nothing to a vendor. */
const copied: FieldPolicy = { unknown: 'accept' };

const textPart = fields({ type: z.literal('text'), text: z.string() }, written);
const imagePart = fields(
  {
    type: z.literal('image_url'),
    image_url: fields(
      { url: z.string().min(1), detail: z.enum(['auto', 'low', 'high', 'original']).optional() },
      written,
    ),
  },
  written,
);
const copiedText = fields({ type: z.literal('text'), text: z.string() }, copied);
const refusalPart = fields({ type: z.literal('refusal'), refusal: z.string() }, copied);
/** What a model thought, as LiteLLM and LangChain keep it. It is not sent back. */
const thoughtPart = fields({ type: z.literal(['thinking', 'reasoning', 'redacted_thinking']) }, copied);

const content = 'must be a string or an array of parts';
const parts = { min: 1, max: 10_000, message: 'must have at least one part' };
const contentOf = <Part extends z.ZodType>(part: Part) => z.union([z.string(), listOf(part, parts)], content);

const toolCall = fields(
  {
    id: z.string().min(1),
    type: z.literal('function'),
    function: fields(
      { name: z.string().min(1).max(128, 'must have at most 128 characters'), arguments: z.string() },
      copied,
    ),
    /** What Google's models want back with a call: https://ai.google.dev/gemini-api/docs/thought-signatures#openai */
    extra_content: z
      .object({ google: z.object({ thought_signature: z.string().optional() }).optional() })
      .nullish()
      .transform((value) => value ?? undefined),
  },
  copied,
);

export type ToolCall = z.output<typeof toolCall>;

const name = { name: z.string().optional() };

const assistant = fields(
  {
    role: z.literal('assistant'),
    content: contentOf(z.discriminatedUnion('type', [copiedText, refusalPart, thoughtPart])).nullish(),
    refusal: z.string().nullish(),
    tool_calls: listOf(toolCall, { max: 1_000, message: 'must be an array of calls' }).optional(),
    ...name,
  },
  {
    ...copied,
    nullable: ['content'],
    refused: {
      audio: 'spoken answers are not served. Send their text as content.',
      function_call: 'deprecated. Send the call in tool_calls.',
    },
  },
);

/** CHAT-2: the roles of the specification and `developer`, which counts as system. */
const message = z.discriminatedUnion('role', [
  fields({ role: z.literal('system'), content: contentOf(textPart), ...name }, written),
  fields({ role: z.literal('developer'), content: contentOf(textPart), ...name }, written),
  fields(
    { role: z.literal('user'), content: contentOf(z.discriminatedUnion('type', [textPart, imagePart])), ...name },
    written,
  ),
  assistant,
  fields({ role: z.literal('tool'), content: contentOf(copiedText), tool_call_id: z.string().min(1) }, copied),
]);

export const messagesSchema = listOf(message, {
  min: 1,
  max: 10_000,
  message: 'must be an array with at least one message',
});

export type ChatMessage = z.output<typeof message>;
