import * as z from 'zod';

/** Sent on nowhere: caching is priced only in the native messages format (BILL-18). */
const cacheControl = { cache_control: z.unknown().optional() };

const textPart = z.strictObject({ type: z.literal('text'), text: z.string(), ...cacheControl });
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string().min(1), detail: z.enum(['auto', 'low', 'high', 'original']).optional() }),
  ...cacheControl,
});
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const content = 'must be a string or an array of parts';
const texts = z.union([z.string(), z.array(textPart).min(1)], content);
const userContent = z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart])).min(1)], content);
const assistantContent = z.union(
  [z.string(), z.array(z.discriminatedUnion('type', [textPart, refusalPart])).min(1)],
  content,
);

const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
  index: z.int().optional(),
});

const name = { name: z.string().optional(), ...cacheControl };

/** What an answer carries and a request need not: accepted, so that an answer can be sent back as it came. */
const ofAnswers = {
  annotations: z.array(z.unknown()).nullish(),
  audio: z.null().optional(),
  function_call: z.null().optional(),
};
export const answerOnlyFields: ReadonlySet<string> = new Set(Object.keys(ofAnswers));

const assistant = z
  .strictObject({
    ...ofAnswers,
    role: z.literal('assistant'),
    content: assistantContent.nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    ...name,
  })
  .check((context) => {
    const { content, tool_calls, refusal } = context.value;
    if ((content ?? refusal ?? undefined) !== undefined || tool_calls) return;
    context.issues.push({
      code: 'custom',
      message: 'content may be null only beside tool_calls.',
      path: ['content'],
      input: content,
    });
  });

/** CHAT-2: the roles of the specification and `developer`, which counts as system. */
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: texts, ...name }),
  z.strictObject({ role: z.literal('developer'), content: texts, ...name }),
  z.strictObject({ role: z.literal('user'), content: userContent, ...name }),
  assistant,
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: z.string().min(1), ...name }),
]);

export const messagesSchema = z
  .array(message, 'must be an array with at least one message')
  .min(1, 'must have at least one message');

export type ChatMessage = z.output<typeof message>;

/** Every image of a conversation with where it stands. */
export const imagesOf = (messages: readonly ChatMessage[]): { readonly url: string; readonly param: string }[] => {
  const found: { url: string; param: string }[] = [];
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [part, value] of content.entries()) {
      if (value.type !== 'image_url') continue;
      found.push({ url: value.image_url.url, param: `messages[${index}].content[${part}].image_url.url` });
    }
  }
  return found;
};
