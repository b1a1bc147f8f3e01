import { type Ask, reasoningTokensByEffort } from '../compose.ts';
import { clientTool } from './client-tools.ts';
import { readImage } from './image-rules.ts';
import { lastUserText } from './last-user-text.ts';
import type { ModelFacts } from './model-facts.ts';
import type { MessagesRequest, Tool } from './request.ts';
import type { Block } from './request-blocks.ts';

/** Tokens of thinking within a manual budget, which is never used up. */
const budgetTokensUsed = 64;

export function toAsk(request: MessagesRequest, facts: ModelFacts): Ask {
  const { tools = [], tool_choice: choice, output_config, messages } = request;
  const format = output_config?.format;
  const lastWords = messages.findLastIndex(({ role, content }) => role === 'user' && content.some(isText));
  const after = messages.slice(lastWords + 1).flatMap(({ content }) => content);
  return {
    model: facts.id,
    prompt: lastUserText(request),
    images: (messages[lastWords]?.content ?? []).flatMap(seenIn),
    toolResults: after.flatMap((block) => (block.type === 'tool_result' ? [resultText(block)] : [])),
    tools: tools.map(toAskTool),
    toolChoice: toToolChoice(choice),
    parallelTools: choice === undefined || choice.type === 'none' || choice.disable_parallel_tool_use !== true,
    format: format == null ? instructedFormat(request) : { schema: format.schema },
    stop: request.stop_sequences ?? [],
    cap: request.max_tokens,
    reasoningTokens: wantedThinking(request, facts),
  };
}

/** Returns how the response shows the thinking, or undefined if there is none. */
export function shownThinking(request: MessagesRequest, facts: ModelFacts): 'omitted' | 'summarized' | undefined {
  const { thinking } = request;
  if (thinking?.type === 'adaptive' || thinking?.type === 'enabled') {
    const display = thinking.display ?? facts.displayDefault;
    return display === 'updates' ? 'summarized' : display;
  }
  if (thinking !== undefined || !facts.thinksUnasked || isForced(request)) return undefined;
  return facts.displayDefault;
}

/** Claude has no JSON mode, but follows an instruction in the system prompt. */
function instructedFormat({ system = [] }: MessagesRequest): 'json' | 'text' {
  return system.some(({ text }) => /respond with (one|a|only a) valid json object/i.test(text)) ? 'json' : 'text';
}

function wantedThinking(request: MessagesRequest, facts: ModelFacts): number {
  if (shownThinking(request, facts) === undefined) return 0;
  if (request.thinking?.type === 'enabled') return Math.min(request.thinking.budget_tokens, budgetTokensUsed);
  const changed = request.messages.findLast(({ output_config: config }) => config?.effort != null);
  const effort = changed?.output_config?.effort ?? request.output_config?.effort ?? facts.effortDefault ?? 'high';
  return reasoningTokensByEffort[effort] ?? 0;
}

function toAskTool(tool: Tool): Ask['tools'][number] {
  return { name: tool.name, schema: 'input_schema' in tool ? tool.input_schema : clientTool(tool.type).schema };
}

/** Whether a tool choice is forced. A model that thinks by default obeys it and does not think. */
function isForced({ tool_choice: choice }: MessagesRequest): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

function toToolChoice(choice: MessagesRequest['tool_choice']): Ask['toolChoice'] {
  if (choice === undefined || choice.type === 'auto') return 'auto';
  if (choice.type === 'tool') return { name: choice.name };
  return choice.type === 'any' ? 'required' : 'none';
}

function isText({ type }: Block): boolean {
  return type === 'text';
}

function seenIn(block: Block): readonly string[] {
  if (block.type !== 'image') return [];
  const seen = readImage(block);
  return [seen.kind === 'image' ? seen.mediaType : seen.kind];
}

function resultText({ content = [] }: Extract<Block, { type: 'tool_result' }>): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}
