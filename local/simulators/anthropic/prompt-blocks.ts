import { pdfPages } from '../pdf-pages.ts';
import { countTokens } from '../tokens.ts';
import { clientTool } from './client-tools.ts';
import type { ModelFacts } from './model-facts.ts';
import type { CountRequest, Tool } from './request.ts';
import type { DocumentBlock, Part } from './request-blocks.ts';

export type Ttl = '5m' | '1h';

/** One block of the prompt in the order the provider reads it: tools, system, messages. */
export type PromptBlock = {
  /** `messages.0.content.1` */
  readonly field: string;
  /** Identity of the block. Its cache marker does not matter. */
  readonly material: string;
  readonly tokens: number;
  /** Set if the request marks the end of a cached prefix here. */
  readonly ttl?: Ttl;
};

type Marked = { readonly type?: string | null; readonly cache_control?: { readonly ttl?: Ttl } | null };

const tokensPerMessage = 3;
/**
 * https://platform.claude.com/docs/en/build-with-claude/vision: approximate tokens of the largest image that is not
 * scaled down.
 */
const tokensPerImage = 1_600;
/**
 * Tokens of a dense page: its text, and its image at the largest size that is not scaled down.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support,
 * https://platform.claude.com/docs/en/build-with-claude/vision
 */
const tokensPerPage = { text: 3_000, image: 1_568, largeImage: 4_784 };
/** A PDF behind a URL is not fetched. */
const pagesUnseen = 1;

export function promptBlocks(request: CountRequest, facts: ModelFacts): readonly PromptBlock[] {
  const { tools = [], system = [], messages } = request;
  const blocks = [
    ...tools.map((tool, index) => {
      const material = materialOf('tool', tool);
      return { field: `tools.${index}`, material, tokens: toolTokens(tool, facts), ttl: ttlOf(tool) };
    }),
    ...system.map((block, index) => ({
      ...{ field: `system.${index}`, material: materialOf('system', block), ttl: ttlOf(block) },
      tokens: countTokens(block.text),
    })),
    ...messages.flatMap(({ role, content }, at) =>
      content.map((block, index) => ({
        ...{ field: `messages.${at}.content.${index}`, material: materialOf(role, block), ttl: ttlOf(block) },
        tokens: blockTokens(block, facts) + (index === 0 ? tokensPerMessage : 0),
      })),
    ),
  ];
  return request.cache_control == null ? blocks : markLast(blocks, request.cache_control.ttl ?? '5m');
}

export function totalTokens(blocks: readonly PromptBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * Returns the tokens of the response schema, which the model reads too. A cached prefix never contains the schema here.
 */
export function formatTokens({ output_config }: CountRequest): number {
  const schema = output_config?.format?.schema;
  return schema === undefined ? 0 : countTokens(JSON.stringify(schema));
}

/**
 * Marks the last block if the request has `cache_control` beside the messages. Keeps a marker that the last block
 * already has.
 */
function markLast(blocks: readonly PromptBlock[], ttl: Ttl): readonly PromptBlock[] {
  return blocks.map((block, index) =>
    index === blocks.length - 1 && block.ttl === undefined ? { ...block, ttl } : block,
  );
}

function materialOf(kind: string, block: Marked): string {
  const { cache_control: _, ...rest } = block;
  return JSON.stringify([kind, rest]);
}

function ttlOf(block: Marked): Ttl | undefined {
  return block.cache_control == null ? undefined : (block.cache_control.ttl ?? '5m');
}

/** A deferred tool is loaded once a search has found it. */
function toolTokens(tool: Tool, facts: ModelFacts): number {
  if (tool.defer_loading === true) return 0;
  if ('input_schema' in tool) return countTokens(materialOf('tool', tool));
  return clientTool(tool.type).tokens(facts);
}

function blockTokens(block: Part, facts: ModelFacts): number {
  const sumOf = (parts: readonly Part[]) => parts.reduce((sum, part) => sum + blockTokens(part, facts), 0);
  switch (block.type) {
    case 'text':
      return countTokens(block.text);
    case 'image':
      return tokensPerImage;
    case 'document':
      return countTokens(`${block.title ?? ''}${block.context ?? ''}`) + sourceTokens(block, facts);
    case 'search_result':
      return countTokens(block.source + block.title) + sumOf(block.content);
    case 'tool_use':
      return countTokens(block.name + JSON.stringify(block.input));
    case 'tool_result':
      return tokensPerMessage + sumOf(block.content ?? []);
    case 'tool_reference':
      return countTokens(block.tool_name);
    case 'tool_addition':
    case 'tool_removal':
      return countTokens(JSON.stringify(block.tool));
    case 'thinking':
      return countTokens(block.thinking);
    case 'redacted_thinking':
      return countTokens(block.data);
  }
}

function sourceTokens({ source }: DocumentBlock, facts: ModelFacts): number {
  if (source.type === 'text') return countTokens(source.data);
  if (source.type === 'content') return source.content.reduce((sum, part) => sum + blockTokens(part, facts), 0);
  const pages = source.type === 'base64' ? (pdfPages(source.data) ?? 0) : pagesUnseen;
  return pages * (tokensPerPage.text + (facts.highResolution ? tokensPerPage.largeImage : tokensPerPage.image));
}
