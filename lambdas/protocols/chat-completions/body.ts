import * as z from 'zod';
import type { Wire } from '../../core/catalog/providers.ts';
import { chat, chatFields } from '../chat-fields.ts';
import { type FieldPolicy, fields, guardedNames, type IgnoredFields } from '../fields.ts';
import { type Entry, withoutUnsupported } from '../optional-fields.ts';
import { anyObject, listOf, recordOf } from '../parse.ts';

/**
 * Caching has prices only in the native messages format (BILL-18), and `id` and `status` are the client's own. All
 * three are accepted and not sent.
 */
const written: FieldPolicy = { unknown: 'list', accepted: ['cache_control', 'id', 'status'] };
/** Clients copy these objects from earlier responses, with members that have no meaning for a provider. */
const copied: FieldPolicy = { unknown: 'accept' };

const textPart = fields({ type: z.literal('text'), text: z.string() }, written);
const imageUrl = { url: z.string().min(1), detail: z.enum(['auto', 'low', 'high', 'original']).optional() };
const imagePart = fields({ type: z.literal('image_url'), image_url: fields(imageUrl, written) }, written);
const copiedText = fields({ type: z.literal('text'), text: z.string() }, copied);
/** OpenAI's own tool messages have only text. Clients of other providers send images as well. */
const resultImage = fields({ type: z.literal('image_url'), image_url: fields(imageUrl, copied) }, copied);
const refusalPart = fields({ type: z.literal('refusal'), refusal: z.string() }, copied);
/** Thoughts of a model, as LiteLLM and LangChain store them. They are not sent. */
const thoughtPart = fields({ type: z.literal(['thinking', 'reasoning', 'redacted_thinking']) }, copied);

const content = 'must be a string or a non-empty array of parts';
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
    /**
     * Thought signature, which Google's models require with each tool call that a client sends back:
     * https://ai.google.dev/gemini-api/docs/thought-signatures#openai
     */
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
      audio: 'audio output is not supported. Send its text as content.',
      function_call: 'deprecated. Send the call in tool_calls.',
    },
  },
);

/** CHAT-2: the roles of the specification and `developer`, which is treated as system. */
const message = z.discriminatedUnion('role', [
  fields({ role: z.literal('system'), content: contentOf(textPart), ...name }, written),
  fields({ role: z.literal('developer'), content: contentOf(textPart), ...name }, written),
  fields(
    { role: z.literal('user'), content: contentOf(z.discriminatedUnion('type', [textPart, imagePart])), ...name },
    written,
  ),
  assistant,
  fields(
    {
      role: z.literal('tool'),
      content: contentOf(z.discriminatedUnion('type', [copiedText, resultImage])),
      tool_call_id: z.string().min(1),
    },
    copied,
  ),
]);

const STOP = 'must be a string or an array of at most 16 strings';

export const messagesSchema = listOf(message, {
  min: 1,
  max: 10_000,
  message: 'must be an array with at least one message',
});

export type ChatMessage = z.output<typeof message>;

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

/** Fields of the specification's table with their ranges (CHAT-1). */
const specified = {
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  messages: messagesSchema,
  temperature: between(0, 2).nullish(),
  top_p: between(0, 1).nullish(),
  max_tokens: cap.nullish(),
  max_completion_tokens: cap.nullish(),
  n: z.int().min(1, 'must be at least 1').max(128, 'must be at most 128').nullish(),
  stop: z.union([z.string(), listOf(z.string(), { max: 16, message: 'must be an array of strings' })], STOP).nullish(),
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

/** Provider fields that add no cost beyond the hold (GEN-9). */
const harmless = {
  metadata: anyObject.nullish(),
  logit_bias: recordOf(between(-100, 100), 1_024).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z
    .enum(['in_memory', 'in-memory'], 'must be "in_memory": longer retention is not supported')
    .nullish(),
  prompt_cache_options: anyObject.nullish(),
  safety_identifier: z.string().nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  modalities: z.tuple([z.literal('text')], 'must be ["text"]: the output is text').nullish(),
  service_tier: z.enum(['auto', 'default'], 'must be "auto" or "default": other tiers are not supported').nullish(),
  store: z.literal(false, 'must be false: responses are not stored').nullish(),
};

const inMessages = 'unknown field. Send a message with role "system".';

/**
 * https://platform.openai.com/docs/api-reference/chat/create. `chat-fields.ts` and GEN-16 define the treatment of each
 * field.
 */
export const chatBody = fields(
  { ...specified, ...harmless },
  {
    unknown: 'list',
    guarded: guardedNames,
    refused: {
      prediction: 'predicted output is not supported. Remove the field.',
      audio: 'the output is text. Use /v1/audio/speech for speech.',
      web_search_options: 'web search runs at the provider and is not supported. Remove the field.',
      moderation: 'not supported on this endpoint. Use /v1/moderations.',
      functions: 'deprecated. Use tools.',
      function_call: 'deprecated. Use tool_choice.',
      instructions: inMessages,
      system: inMessages,
    },
    emptyRefused: ['web_search_options'],
  },
);

export type ChatBody = z.output<typeof chatBody>;

/**
 * Returns the body without the fields that the model or its provider does not accept. Throws the 400 for a field that
 * the caller relies on.
 */
export const forVendor = (body: ChatBody, wire: Wire, entry: Entry): ChatBody => {
  const unsent = withoutUnsupported(chatFields, body, { ...entry, wire });
  const kept = { ...body, ...Object.fromEntries([...unsent].map((field) => [field, undefined])) };
  if (chat.includes(wire)) return kept;
  listOtherEffort(kept, wire, entry);
  return {
    ...kept,
    messages: body.messages.map((message) => forForeignVendor(message, entry.ignored)),
  };
};

/** Claude and Gemini get the nearest level instead (CHAT-9). OpenAI gets every level, and rejects what it lacks. */
const listOtherEffort = ({ reasoning_effort: level }: ChatBody, wire: Wire, { model, ignored }: Entry): void => {
  if (!level || wire === 'openai_responses' || model.reasoning?.accepted.includes(level)) return;
  ignored.add(['reasoning_effort']);
};

type Message = ChatBody['messages'][number];

/** Only OpenAI's chat protocol has a person's name and the detail level of an image. */
const forForeignVendor = (message: Message, ignored: IgnoredFields): Message => {
  if (message.role === 'tool') return { ...message, content: withoutDetail(message.content, ignored) };
  if (message.name !== undefined) ignored.add(['messages', 0, 'name']);
  if (message.role !== 'user') return { ...message, name: undefined };
  return { ...message, name: undefined, content: withoutDetail(message.content, ignored) };
};

type Seen = Extract<Message, { role: 'user' | 'tool' }>['content'];

const withoutDetail = (content: Seen, ignored: IgnoredFields): Seen => {
  if (typeof content === 'string') return content;
  return content.map((part) => {
    if (part.type !== 'image_url') return part;
    const { url, detail } = part.image_url;
    if (detail === 'low' || detail === 'original') ignored.add(['messages', 0, 'content', 0, 'image_url', 'detail']);
    return { ...part, image_url: { url } };
  });
};
