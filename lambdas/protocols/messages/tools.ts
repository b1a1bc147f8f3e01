import * as z from 'zod';
import { anyObject, listOf } from '../bounded.ts';
import { type FieldPolicy, fields } from '../fields.ts';
import { cacheControl } from './blocks.ts';

/** `defer_loading` is ignored: the tool is always loaded, since a search for tools runs at the vendor. */
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
 * Prompt tokens of the tools that the vendor defines and the client runs, before the entry's factor (BILL-5). No body shows them, so
 * a version without a figure is refused. The vendor publishes none for memory: its tool has six commands, and a protocol of some
 * 150 words goes into the system prompt. https://platform.claude.com/docs/en/about-claude/pricing (2026-11)
 */
export const clientToolTokens: Readonly<Record<string, number>> = {
  bash_20250124: 325,
  text_editor_20250124: 700,
  text_editor_20250429: 700,
  text_editor_20250728: 700,
  memory_20250818: 2_000,
};

const served = `must be "custom", left out, or ${Object.keys(clientToolTokens).join(', ')}`;

/** Tools that run at the vendor cost extra, and those of other versions cost prompt tokens that are not known (GEN-9). */
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
        ? `${served}: tools that run at the vendor (web_search, code_execution and the like) are not served here`
        : undefined,
  },
);

export type Tool = z.output<typeof tool>;
