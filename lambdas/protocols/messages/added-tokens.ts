import type { TextModel } from '../../core/catalog/schema.ts';
import { promptTextTokens } from '../../core/text/token-estimate.ts';
import type { PlacedBlock } from './blocks.ts';
import type { PromptBody } from './body.ts';
import { clientToolTokens, type Tool } from './tools.ts';

/** The instructions for citations. https://platform.claude.com/docs/en/build-with-claude/citations names no figure. */
const TOKENS_FOR_CITATIONS = 1_000;
/** Title, index and marks around a document or a search result. */
const TOKENS_AROUND_SOURCE = 64;
/** What the model is shown of its budget with each message. */
const TOKENS_OF_BUDGET = 64;

/** What the vendor puts into a prompt beside the text of the body, in tokens before the entry's factor (BILL-5). */
export const addedTokens = (
  { tools = [], output_config, messages }: PromptBody,
  blocks: readonly PlacedBlock[],
  model: TextModel,
): number => {
  const sources = blocks.flatMap(({ block }) =>
    block.type === 'document' || block.type === 'search_result' ? [block] : [],
  );
  return (
    tools.reduce((sum, tool) => sum + definedTokens(tool), 0) +
    repeatedTools(tools, blocks, model) +
    sources.length * TOKENS_AROUND_SOURCE +
    (sources.some(({ citations }) => citations?.enabled) ? TOKENS_FOR_CITATIONS : 0) +
    (output_config?.task_budget ? messages.length * TOKENS_OF_BUDGET : 0)
  );
};

const definedTokens = ({ type }: Tool): number => clientToolTokens[type ?? ''] ?? 0;

/** Each reference to a tool can put its definition into the prompt once more. */
const repeatedTools = (tools: readonly Tool[], blocks: readonly PlacedBlock[], model: TextModel): number => {
  const references = blocks.flatMap(({ block }) => {
    if (block.type === 'tool_reference') return [block.tool_name];
    return block.type === 'tool_addition' || block.type === 'tool_removal' ? [block.tool.name] : [];
  });
  if (references.length === 0) return 0;
  const sizes = new Map(
    tools.map((tool) => [tool.name, definedTokens(tool) + promptTextTokens({ ...tool }, [], model)]),
  );
  return references.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
};
