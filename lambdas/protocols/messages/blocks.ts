import * as z from 'zod';
import { type FieldPolicy, fields } from '../fields.ts';
import { anyObject, listOf, shownName } from '../parse.ts';

const listed: FieldPolicy = { unknown: 'list' };
/** Clients copy messages and blocks from earlier responses and add their own members. */
const copied: FieldPolicy = { unknown: 'accept' };

/**
 * MSG-5: accepted wherever the provider accepts it. `scope` is not sent, because it would share a cache between
 * customers.
 */
export const cacheControl = fields(
  { type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() },
  listed,
).optional();

const content = 'must be a string or an array of blocks';
const BLOCKS_MAX = 100_000;

const contentOf = <Block extends z.ZodType>(block: Block) =>
  z.union([z.string(), listOf(block, { max: BLOCKS_MAX, message: content })], content);

const ranAtVendor = 'comes from a tool that runs at the provider. Remove it';
const kept = 'names a file in the provider’s storage. Send its bytes';

/** Why a block or a source is not supported, by the start of its type. */
const unserved: readonly (readonly [start: string, reason: string])[] = [
  ['server_tool_use', ranAtVendor],
  ['mcp_', ranAtVendor],
  ['web_', ranAtVendor],
  ['code_execution', ranAtVendor],
  ['bash_code_execution', ranAtVendor],
  ['text_editor_code_execution', ranAtVendor],
  ['tool_search_tool_result', ranAtVendor],
  ['advisor_tool_result', ranAtVendor],
  ['container_upload', kept],
  ['file', kept],
  ['url', 'names a document of unknown size. Send its bytes'],
  ['compaction', 'is a summary by a second model call. Remove it'],
  ['fallback', 'comes from another model of the provider. Remove it'],
  ['tool_definition', 'is a tool definition. Send it in tools'],
];

/** Union whose error message has the reason for an unsupported type, or lists the supported types. */
const typedUnion = <const Options extends readonly [z.ZodObject, ...z.ZodObject[]]>(options: Options) =>
  z.discriminatedUnion('type', options, {
    error: ({ code, input }) => {
      if (code !== 'invalid_union' || typeof input !== 'object' || input === null || !('type' in input))
        return undefined;
      // The value may have no string form: {"toString": 1} has none.
      if (typeof input.type !== 'string') return undefined;
      const type = shownName(input.type);
      const reason = unserved.find(([start]) => type.startsWith(start))?.[1];
      return reason && `"${type}" is not supported: it ${reason}`;
    },
  });

const cited = { cited_text: z.string(), document_index: z.int(), document_title: z.string().nullable() };
/** Citations of earlier responses. Those of web searches cannot occur. */
const citation = typedUnion([
  fields({ type: z.literal('char_location'), start_char_index: z.int(), end_char_index: z.int(), ...cited }, copied),
  fields({ type: z.literal('page_location'), start_page_number: z.int(), end_page_number: z.int(), ...cited }, copied),
  fields(
    { type: z.literal('content_block_location'), start_block_index: z.int(), end_block_index: z.int(), ...cited },
    copied,
  ),
  fields(
    {
      type: z.literal('search_result_location'),
      cited_text: z.string(),
      search_result_index: z.int(),
      source: z.string(),
      title: z.string().nullable(),
      start_block_index: z.int(),
      end_block_index: z.int(),
    },
    copied,
  ),
]);

const textBlock = fields(
  {
    type: z.literal('text'),
    text: z.string(),
    citations: listOf(citation, { max: BLOCKS_MAX, message: 'must be an array of citations' }).optional(),
    cache_control: cacheControl,
  },
  { ...copied, emptyAbsent: ['citations'] },
);

/** `request.ts` checks the image type, because that error has its own code. */
const imageBlock = fields(
  {
    type: z.literal('image'),
    source: typedUnion([
      fields({ type: z.literal('base64'), media_type: z.string(), data: z.string() }, listed),
      fields({ type: z.literal('url'), url: z.string() }, listed),
    ]),
    transformations: fields({ oversized_image: z.enum(['downsize', 'error']).optional() }, listed).optional(),
    cache_control: cacheControl,
  },
  copied,
);

const citations = fields({ enabled: z.boolean().optional() }, listed).optional();

const documentBlock = fields(
  {
    type: z.literal('document'),
    source: typedUnion([
      fields({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }, listed),
      fields({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }, listed),
      fields({ type: z.literal('content'), content: contentOf(typedUnion([textBlock, imageBlock])) }, listed),
    ]),
    title: z.string().optional(),
    context: z.string().optional(),
    citations,
    cache_control: cacheControl,
  },
  copied,
);

const searchResult = fields(
  {
    type: z.literal('search_result'),
    source: z.string(),
    title: z.string(),
    content: listOf(textBlock, { max: BLOCKS_MAX, message: 'must be an array of text blocks' }),
    citations,
    cache_control: cacheControl,
  },
  copied,
);

const toolUse = fields(
  {
    type: z.literal('tool_use'),
    id: z.string().min(1),
    name: z.string().min(1),
    input: anyObject,
    /** Caller as responses name it. Any other caller is a tool that runs at the provider. */
    caller: fields({ type: z.literal('direct') }, copied).optional(),
    toolset_name: z.null().optional(),
    cache_control: cacheControl,
  },
  copied,
);

const toolReference = fields(
  { type: z.literal('tool_reference'), tool_name: z.string(), cache_control: cacheControl },
  copied,
);

const toolResult = fields(
  {
    type: z.literal('tool_result'),
    tool_use_id: z.string().min(1),
    content: contentOf(typedUnion([textBlock, imageBlock, documentBlock, searchResult, toolReference])).optional(),
    is_error: z.boolean().optional(),
    toolset_name: z.null().optional(),
    cache_control: cacheControl,
  },
  copied,
);

const block = typedUnion([
  textBlock,
  imageBlock,
  documentBlock,
  searchResult,
  toolUse,
  toolResult,
  fields({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }, copied),
  fields({ type: z.literal('redacted_thinking'), data: z.string() }, copied),
]);

/** Tool of `tools`, by its name. A definition here could be a tool that runs at the provider. */
const declaredTool = typedUnion([fields({ type: z.literal('tool_reference'), name: z.string() }, listed)]);
const toolChange = { tool: declaredTool, cache_control: cacheControl };
const systemBlock = typedUnion([
  textBlock,
  fields({ type: z.literal('tool_addition'), ...toolChange }, copied),
  fields({ type: z.literal('tool_removal'), ...toolChange }, copied),
]);

export const texts = contentOf(textBlock);
export const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);

/**
 * The provider decides which blocks each role can have. It also decides on `system` messages inside a conversation:
 * models without them return 400.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
const message = z.discriminatedUnion('role', [
  fields(
    {
      role: z.literal('system'),
      content: contentOf(systemBlock).optional(),
      output_config: fields({ effort: effort.optional() }, listed).optional(),
      clear_at: z.enum(['next_user_message', 'never']).optional(),
    },
    copied,
  ),
  fields({ role: z.enum(['user', 'assistant']), content: contentOf(block) }, copied),
]);

/** The maximum is the provider's. */
export const messagesSchema = listOf(message, {
  min: 1,
  max: 100_000,
  message: 'must be an array with at least one message',
});

export type ImageBlock = z.output<typeof imageBlock>;
export type DocumentBlock = z.output<typeof documentBlock>;
export type Message = z.output<typeof message>;
type Block = z.output<typeof block> | z.output<typeof systemBlock> | z.output<typeof toolReference>;

export interface PlacedBlock {
  readonly block: Block;
  /** Place of the block in the client's body. */
  readonly param: string;
}

/**
 * All blocks of a content in the body's order. Blocks inside results and documents follow the block that holds them.
 */
export const blocksIn = (content: string | readonly Block[] = [], param: string): readonly PlacedBlock[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((block, index) => {
        const at = `${param}[${index}]`;
        return [{ block, param: at }, ...insideOf(block, at)];
      });

const insideOf = (block: Block, param: string): readonly PlacedBlock[] => {
  if (block.type === 'tool_result' || block.type === 'search_result')
    return blocksIn(block.content, `${param}.content`);
  if (block.type !== 'document' || block.source.type !== 'content') return [];
  return blocksIn(block.source.content, `${param}.source.content`);
};

export const blocksOf = (messages: readonly Message[]): readonly PlacedBlock[] =>
  messages.flatMap(({ content }, index) => blocksIn(content, `messages[${index}].content`));

/** `defer_loading` is ignored: the gateway always loads the tool, because a search for tools runs at the provider. */
const policy: FieldPolicy = { unknown: 'list' };

const shared = {
  strict: z.boolean().optional(),
  input_examples: listOf(anyObject, { max: 1_000, message: 'must be an array of objects' }).optional(),
  allowed_callers: listOf(z.literal('direct'), { max: 10, message: 'must be an array' }).optional(),
  cache_control: cacheControl,
};

const ownTool = fields(
  {
    type: z.literal('custom').nullish(),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, _ or -'),
    description: z.string().optional(),
    input_schema: anyObject,
    eager_input_streaming: z.boolean().optional(),
    ...shared,
  },
  policy,
);

const clientTool = <const Type extends string, const Name extends string>(type: Type, name: Name) =>
  fields({ type: z.literal(type), name: z.literal(name), ...shared }, policy);

/**
 * Prompt tokens of tools that the provider defines and the client runs, before the entry's factor (BILL-5). No body
 * shows them, so a version without a number is rejected. The provider publishes none for memory: its tool has six
 * commands, and adds a protocol of about 150 words to the system prompt.
 * https://platform.claude.com/docs/en/about-claude/pricing (2026-11)
 */
export const clientToolTokens: Readonly<Record<string, number>> = {
  bash_20250124: 325,
  text_editor_20250124: 700,
  text_editor_20250429: 700,
  text_editor_20250728: 700,
  memory_20250818: 2_000,
};

const served = `must be "custom", absent, or one of ${Object.keys(clientToolTokens).join(', ')}`;

/** Tools that run at the provider cost extra, and other versions cost an unknown number of prompt tokens (GEN-9). */
export const tool = z.discriminatedUnion(
  'type',
  [
    clientTool('bash_20250124', 'bash'),
    clientTool('text_editor_20250124', 'str_replace_editor'),
    clientTool('text_editor_20250429', 'str_replace_based_edit_tool'),
    fields(
      {
        type: z.literal('text_editor_20250728'),
        name: z.literal('str_replace_based_edit_tool'),
        max_characters: z.int().positive().optional(),
        ...shared,
      },
      policy,
    ),
    clientTool('memory_20250818', 'memory'),
    ownTool,
  ],
  {
    error: ({ code }) =>
      code === 'invalid_union'
        ? `${served}. Tools that run at the provider, such as web_search and code_execution, are not supported here`
        : undefined,
  },
);

export type Tool = z.output<typeof tool>;
