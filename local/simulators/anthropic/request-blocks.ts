import * as z from 'zod';
import { anyObject, listOf } from '../../../lambdas/protocols/parse.ts';

/**
 * Content of a request. The provider rejects unknown members: https://github.com/router-for-me/CLIProxyAPI/issues/5738
 * Files that the provider stores and the results of its own tools are not simulated.
 */

const listMax = 100_000;
export const notList = 'Input should be a valid list';

export const cacheControl = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish();

/** Citation in an earlier response. */
const citation = z.looseObject({
  type: z.enum([
    'char_location',
    'page_location',
    'content_block_location',
    'search_result_location',
    'web_search_result_location',
  ]),
  cited_text: z.string(),
});

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControl,
  citations: listOf(citation, { max: listMax, message: notList }).nullish(),
});

const imageSource = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('base64'),
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: z.string(),
  }),
  z.strictObject({ type: z.literal('url'), url: z.string() }),
]);
const image = z.strictObject({
  type: z.literal('image'),
  source: imageSource,
  transformations: z.strictObject({ oversized_image: z.enum(['downsize', 'error']).optional() }).nullish(),
  cache_control: cacheControl,
});

const documentSource = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }),
  z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  z.strictObject({ type: z.literal('content'), content: contentOf(z.discriminatedUnion('type', [text, image])) }),
  z.strictObject({ type: z.literal('url'), url: z.string() }),
]);
const citations = z.strictObject({ enabled: z.boolean().optional() }).nullish();
const document = z.strictObject({
  type: z.literal('document'),
  source: documentSource,
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations,
  cache_control: cacheControl,
});

const searchResult = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: listOf(text, { max: listMax, message: notList }),
  citations,
  cache_control: cacheControl,
});

const toolReference = z.strictObject({
  type: z.literal('tool_reference'),
  tool_name: z.string(),
  cache_control: cacheControl,
});

const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);

const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  // https://github.com/anomalyco/opencode/pull/48750 (2026-09-13) through a reseller, which allows 64 characters
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: anyObject,
  caller: z.strictObject({ type: z.literal('direct') }).nullish(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControl,
});

const resultPart = z.discriminatedUnion('type', [text, image, document, searchResult, toolReference]);
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: contentOf(resultPart).optional(),
  is_error: z.boolean().nullish(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControl,
});

const thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const redactedThinking = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });

/** Block in system messages within the conversation. */
const toolAddition = z.strictObject({ type: z.literal('tool_addition'), tool: anyObject, cache_control: cacheControl });
const toolRemoval = z.strictObject({ type: z.literal('tool_removal'), tool: anyObject, cache_control: cacheControl });

const block = z.discriminatedUnion('type', [
  text,
  image,
  document,
  searchResult,
  toolUse,
  toolResult,
  thinking,
  redactedThinking,
  toolAddition,
  toolRemoval,
]);

export const blocks = contentOf(block);
export const textBlocks = contentOf(text);

export type Block = z.infer<typeof block>;
/** Block of a message, or one that only a tool result can have. */
export type Part = Block | z.infer<typeof toolReference>;
export type BlockOf<T extends Block['type']> = Extract<Block, { type: T }>;
export type DocumentBlock = BlockOf<'document'>;
export type ImageBlock = BlockOf<'image'>;

/** A string is the provider's shorthand for one text block. */
function contentOf<Part extends z.ZodType>(part: Part) {
  const spelledOut = (content: unknown) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);
  return z.preprocess(spelledOut, listOf(part, { max: listMax, message: notList }));
}
