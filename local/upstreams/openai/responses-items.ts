import * as z from 'zod';

/** Strict, as the vendor is: an item, part or field it does not know is refused. */
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string(),
  detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
});
const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const inputParts = z.array(z.discriminatedUnion('type', [inputText, inputImage]));
const status = z.enum(['in_progress', 'completed', 'incomplete']).optional();
const idOf = (prefix: string) => z.string().startsWith(prefix, `Expected an ID that begins with '${prefix}'`);

const messageType = z.literal('message').optional();
const inputMessage = z.strictObject({
  type: messageType,
  role: z.enum(['user', 'system', 'developer']),
  content: z.union([z.string(), inputParts]),
  status,
});
const outputMessage = z.strictObject({
  type: messageType,
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [outputText, refusal]))]),
  id: idOf('msg').optional(),
  phase: z.enum(['commentary', 'final_answer']).nullish(),
  status,
});

const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id: idOf('fc').optional(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status,
});
const functionCallOutput = z.strictObject({
  type: z.literal('function_call_output'),
  id: z.string().nullish(),
  call_id: z.string(),
  output: z.union([z.string(), inputParts]),
  status,
});
const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: idOf('rs'),
  summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  content: z.array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })).optional(),
  encrypted_content: z.string().nullish(),
  status,
});

export const inputItem = z.discriminatedUnion('type', [
  z.discriminatedUnion('role', [inputMessage, outputMessage]),
  functionCall,
  functionCallOutput,
  reasoning,
]);

export type InputItem = z.infer<typeof inputItem>;
export type InputMessage = z.infer<typeof inputMessage>;
export type ReasoningInput = z.infer<typeof reasoning>;

/** The text of a message or of a tool's result; images and refusals have none. */
export function contentText(
  content: string | readonly { readonly type: string; readonly text?: string | undefined }[],
): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n');
}

export function isUserMessage(item: InputItem): item is InputMessage {
  return 'role' in item && item.role === 'user';
}

/** All images of an item, in order, those of tool results as well. */
export function itemImages(item: InputItem): readonly z.infer<typeof inputImage>[] {
  const content = 'output' in item ? item.output : 'role' in item ? item.content : [];
  if (typeof content === 'string') return [];
  return [...content].flatMap((part) => (part.type === 'input_image' ? [part] : []));
}
