import * as z from 'zod';
import type { ModelFacts } from './model-facts.ts';

/** Tools that the client runs and the provider defines. The request has a name for them and no schema. */
type ClientTool = {
  readonly name: string;
  /** Prompt tokens of the definition. */
  readonly tokens: (facts: ModelFacts) => number;
  /** Schema of the input that the model writes. */
  readonly schema: unknown;
};

const text = { type: 'string' };
const editor = {
  type: 'object',
  properties: { command: { enum: ['view', 'create', 'str_replace', 'insert'] }, path: { const: '/simulated.txt' } },
  required: ['command', 'path'],
};

const toolsByType = {
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool#pricing
  bash_20250124: {
    name: 'bash',
    tokens: ({ highResolution }) => (highResolution ? 325 : 244),
    schema: { type: 'object', properties: { command: text }, required: ['command'] },
  },
  // https://platform.claude.com/docs/en/about-claude/pricing#text-editor-tool
  text_editor_20250124: { name: 'str_replace_editor', tokens: () => 700, schema: editor },
  text_editor_20250429: { name: 'str_replace_based_edit_tool', tokens: () => 700, schema: editor },
  text_editor_20250728: { name: 'str_replace_based_edit_tool', tokens: () => 700, schema: editor },
  // Not published, see doubtful-facts.md.
  memory_20250818: { name: 'memory', tokens: () => 1_000, schema: editor },
} as const satisfies Record<string, ClientTool>;

export const clientToolType = z.enum([
  'bash_20250124',
  'text_editor_20250124',
  'text_editor_20250429',
  'text_editor_20250728',
  'memory_20250818',
]);

export function clientTool(type: z.infer<typeof clientToolType>): ClientTool {
  return toolsByType[type];
}
