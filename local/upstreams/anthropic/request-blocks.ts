import * as z from 'zod';
import { anyObject, listOf } from '../../../lambdas/protocols/bounded.ts';

/** Content of a request, strict as the vendor is. Files, search results and the vendor's own tools are not played. */

const listMax = 100_000;
export const notList = 'Input should be a valid list';

export const cacheControl = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish();

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControl,
  citations: z.null().optional(),
});

const imageSource = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('base64'),
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: z.string(),
  }),
  z.strictObject({ type: z.literal('url'), url: z.string() }),
]);
const image = z.strictObject({ type: z.literal('image'), source: imageSource, cache_control: cacheControl });

const documentSource = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }),
  z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  z.strictObject({ type: z.literal('url'), url: z.string() }),
]);
const document = z.strictObject({
  type: z.literal('document'),
  source: documentSource,
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.strictObject({ enabled: z.boolean().optional() }).nullish(),
  cache_control: cacheControl,
});

const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);

const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  name: z.string().min(1).max(200),
  input: anyObject,
  caller: z.strictObject({ type: z.literal('direct') }).optional(),
  cache_control: cacheControl,
});

const resultPart = z.discriminatedUnion('type', [text, image, document]);
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: contentOf(resultPart).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
});

const thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const redactedThinking = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });

const block = z.discriminatedUnion('type', [text, image, document, toolUse, toolResult, thinking, redactedThinking]);

export const blocks = contentOf(block);
export const textBlocks = contentOf(text);

export type Block = z.infer<typeof block>;
export type BlockOf<T extends Block['type']> = Extract<Block, { type: T }>;
export type ImageBlock = BlockOf<'image'>;

/** A string is the vendor's shorthand for one block of text, and is read as one here. */
function contentOf<Part extends z.ZodType>(part: Part) {
  const spelledOut = (content: unknown) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);
  return z.preprocess(spelledOut, listOf(part, { max: listMax, message: notList }));
}
