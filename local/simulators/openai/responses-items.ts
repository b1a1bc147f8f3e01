import * as z from 'zod';

/**
 * Strict schemas, because the provider rejects unknown items, parts and members, and an id that belongs to another kind
 * of item. https://github.com/pydantic/pydantic-ai/issues/3653, https://github.com/caozhiyuan/copilot-api/issues/308,
 * https://github.com/openai/codex/issues/33176, https://github.com/earendil-works/pi/issues/10257
 */
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string(),
  detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
});
/** Source: https://developers.openai.com/api/docs/guides/file-inputs (2026-11). Nothing is stored here, so there is no `file_id`. */
const inputFile = z.strictObject({
  type: z.literal('input_file'),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish(),
  detail: z.enum(['auto', 'low', 'high']).nullish(),
});
const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).nullish(),
  logprobs: z.array(z.unknown()).nullish(),
});
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const inputParts = z.array(z.discriminatedUnion('type', [inputText, inputImage, inputFile]));
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish();
const idOf = (prefix: string) =>
  z
    .string()
    .startsWith(prefix, { error: ({ input }) => `'${input}'. Expected an ID that begins with '${prefix}'` })
    .nullish();

const messageType = z.literal('message').optional();
const inputMessage = z.strictObject({
  type: messageType,
  role: z.enum(['user', 'system', 'developer']),
  content: z.union([z.string(), inputParts]),
  id: idOf('msg'),
  status,
});
const outputMessage = z.strictObject({
  type: messageType,
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [outputText, refusal]))]),
  id: idOf('msg'),
  phase: z.enum(['commentary', 'final_answer']).nullish(),
  status,
});

/** Set on calls made by a program that runs at the provider, and on calls of a tool in a namespace. */
const origin = {
  caller: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('direct') }),
      z.strictObject({ type: z.literal('program'), caller_id: z.string() }),
    ])
    .nullish(),
  namespace: z.string().nullish(),
};

/** https://github.com/decolua/9router/issues/393 (2026-03-23) */
const callId = z.string().min(1).max(64);

const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id: idOf('fc'),
  call_id: callId,
  name: z.string().regex(/^[\w-]{1,128}$/),
  arguments: z.string(),
  ...origin,
  status,
});
const functionCallOutput = z.strictObject({
  type: z.literal('function_call_output'),
  id: idOf('fc'),
  call_id: callId,
  name: z.string().nullish(),
  output: z.union([z.string(), inputParts]),
  ...origin,
  status,
});
const customCall = z.strictObject({
  type: z.literal('custom_tool_call'),
  id: idOf('ctc'),
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
  ...origin,
  status,
});
const customCallOutput = z.strictObject({
  type: z.literal('custom_tool_call_output'),
  id: idOf('ctc'),
  call_id: z.string(),
  name: z.string().nullish(),
  output: z.union([z.string(), inputParts]),
  ...origin,
  status,
});
const execution = z.enum(['client', 'server']).nullish();
const toolSearchCall = z.strictObject({
  type: z.literal('tool_search_call'),
  id: z.string().nullish(),
  call_id: z.string().nullish(),
  execution,
  arguments: z.unknown(),
  status,
});
const toolSearchOutput = z.strictObject({
  type: z.literal('tool_search_output'),
  id: z.string().nullish(),
  call_id: z.string().nullish(),
  execution,
  tools: z.array(z.record(z.string(), z.unknown())),
  status,
});
const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: idOf('rs'),
  summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  content: z.array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })).nullish(),
  encrypted_content: z.string().nullish(),
  status,
});

export const inputItem = z.discriminatedUnion('type', [
  z.discriminatedUnion('role', [inputMessage, outputMessage]),
  functionCall,
  functionCallOutput,
  customCall,
  customCallOutput,
  toolSearchCall,
  toolSearchOutput,
  reasoning,
]);

export type InputItem = z.infer<typeof inputItem>;
export type InputMessage = z.infer<typeof inputMessage>;
export type ReasoningInput = z.infer<typeof reasoning>;

/** Returns the text of a message or a tool result; images and refusals have none. */
export function contentText(
  content: string | readonly { readonly type: string; readonly text?: string | undefined }[],
): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n');
}

/** Returns the text of an item that the model reads. */
export function itemText(item: InputItem): string {
  if ('role' in item) return contentText(item.content);
  switch (item.type) {
    case 'function_call':
      return item.name + item.arguments;
    case 'custom_tool_call':
      return item.name + item.input;
    case 'tool_search_call':
      return JSON.stringify(item.arguments) ?? '';
    case 'tool_search_output':
      return JSON.stringify(item.tools);
    case 'reasoning':
      return contentText(item.summary);
    default:
      return contentText(item.output);
  }
}

export function isUserMessage(item: InputItem): item is InputMessage {
  return 'role' in item && item.role === 'user';
}

/** Returns all images of an item in order, including those of tool results. */
export function itemImages(item: InputItem): readonly z.infer<typeof inputImage>[] {
  return partsOf(item).flatMap((part) => (part.type === 'input_image' ? [part] : []));
}

/** Returns all files of an item in order, including those of tool results. */
export function itemFiles(item: InputItem): readonly z.infer<typeof inputFile>[] {
  return partsOf(item).flatMap((part) => (part.type === 'input_file' ? [part] : []));
}

function partsOf(item: InputItem) {
  const content = 'output' in item ? item.output : 'role' in item ? item.content : [];
  return typeof content === 'string' ? [] : [...content];
}
