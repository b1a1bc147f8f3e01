import { countTokens } from '../tokens.ts';
import type { CountRequest } from './request.ts';
import type { Block } from './request-blocks.ts';

export type Ttl = '5m' | '1h';

/** One block of the prompt in the order the vendor reads it: tools, system, messages. */
export type PromptBlock = {
  /** `messages.0.content.1` */
  readonly field: string;
  /** The same for the same block, wherever its cache marker stands. */
  readonly material: string;
  readonly tokens: number;
  /** Where the request marks the end of a cached prefix. */
  readonly ttl?: Ttl;
};

type Marked = { readonly type?: string | null; readonly cache_control?: { readonly ttl?: Ttl } | null };

const tokensPerMessage = 3;
/** https://platform.claude.com/docs/en/build-with-claude/vision: about this for the largest image that is not scaled down. */
const tokensPerImage = 1_600;
const tokensPerDocument = 1_500;

export function promptBlocks(request: CountRequest): readonly PromptBlock[] {
  const { tools = [], system = [], messages } = request;
  const blocks = [
    ...tools.map((tool, index) => {
      const material = materialOf('tool', tool);
      return { field: `tools.${index}`, material, tokens: countTokens(material), ttl: ttlOf(tool) };
    }),
    ...system.map((block, index) => ({
      ...{ field: `system.${index}`, material: materialOf('system', block), ttl: ttlOf(block) },
      tokens: countTokens(block.text),
    })),
    ...messages.flatMap(({ role, content }, at) =>
      content.map((block, index) => ({
        ...{ field: `messages.${at}.content.${index}`, material: materialOf(role, block), ttl: ttlOf(block) },
        tokens: blockTokens(block) + (index === 0 ? tokensPerMessage : 0),
      })),
    ),
  ];
  return request.cache_control == null ? blocks : markLast(blocks, request.cache_control.ttl ?? '5m');
}

export function totalTokens(blocks: readonly PromptBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The schema of the answer is read too, but is no part of a cached prefix here. */
export function formatTokens({ output_config }: CountRequest): number {
  const schema = output_config?.format?.schema;
  return schema === undefined ? 0 : countTokens(JSON.stringify(schema));
}

/** `cache_control` beside the messages marks the last block, unless that has a marker of its own. */
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

function blockTokens(block: Block): number {
  switch (block.type) {
    case 'text':
      return countTokens(block.text);
    case 'image':
      return tokensPerImage;
    case 'document':
      return block.source.type === 'text' ? countTokens(block.source.data) : tokensPerDocument;
    case 'tool_use':
      return countTokens(block.name + JSON.stringify(block.input));
    case 'tool_result':
      return (block.content ?? []).reduce((sum, part) => sum + blockTokens(part), tokensPerMessage);
    case 'thinking':
      return countTokens(block.thinking);
    case 'redacted_thinking':
      return countTokens(block.data);
  }
}
