import type { ModelFacts } from './model-facts.ts';
import { promptBlocks, totalTokens } from './prompt-blocks.ts';
import type { ContextEdit, CountRequest, Message } from './request.ts';
import type { Block } from './request-blocks.ts';

type ToolEdit = Extract<ContextEdit, { type: 'clear_tool_uses_20250919' }>;
type ThinkingEdit = Extract<ContextEdit, { type: 'clear_thinking_20251015' }>;

export type AppliedEdit = Readonly<Record<string, string | number>>;

export type EditedRequest<Request> = {
  /** Request as the model reads it. */
  readonly request: Request;
  /** Undefined without `context_management` in the request. */
  readonly applied: readonly AppliedEdit[] | undefined;
};

/** Source: https://platform.claude.com/docs/en/build-with-claude/context-editing */
const triggerDefault = { type: 'input_tokens', value: 100_000 } as const;
const toolUsesKept = 3;
const thinkingTurnsKept = 1;
const cleared = '[Old tool result content cleared]';

export function editContext<Request extends CountRequest>(request: Request, facts: ModelFacts): EditedRequest<Request> {
  const { context_management: management } = request;
  if (management === undefined) return { request, applied: undefined };
  const applied: AppliedEdit[] = [];
  let edited = request;
  for (const edit of management.edits ?? []) {
    const tokens = tokensOf(edited, facts);
    const { messages, count } =
      edit.type === 'clear_tool_uses_20250919'
        ? clearToolUses(edit, edited.messages, tokens)
        : clearThinking(edit, edited.messages);
    const next = { ...edited, messages };
    const clearedTokens = tokens - tokensOf(next, facts);
    const least = edit.type === 'clear_tool_uses_20250919' ? (edit.clear_at_least?.value ?? 0) : 0;
    if (count === 0 || clearedTokens < least) continue;
    edited = next;
    const counted = edit.type === 'clear_tool_uses_20250919' ? 'cleared_tool_uses' : 'cleared_thinking_turns';
    applied.push({ type: edit.type, [counted]: count, cleared_input_tokens: clearedTokens });
  }
  return { request: edited, applied };
}

function tokensOf(request: CountRequest, facts: ModelFacts): number {
  return totalTokens(promptBlocks(request, facts));
}

type Cleared = { readonly messages: Message[]; readonly count: number };

/** Replaces the oldest results, and the inputs of their calls if the request wants that. */
function clearToolUses(edit: ToolEdit, messages: Message[], tokens: number): Cleared {
  const uses = messages.flatMap(({ content }) => content.filter((block) => block.type === 'tool_use'));
  const { type, value } = edit.trigger ?? triggerDefault;
  if ((type === 'tool_uses' ? uses.length : tokens) <= value) return { messages, count: 0 };
  const clearable = uses.filter(({ name }) => !(edit.exclude_tools ?? []).includes(name));
  const gone = clearable.slice(0, Math.max(0, clearable.length - (edit.keep?.value ?? toolUsesKept)));
  const ids = new Set(gone.map(({ id }) => id));
  const inputs = edit.clear_tool_inputs ?? false;
  const clear = (block: Block): Block => {
    if (block.type === 'tool_result' && ids.has(block.tool_use_id)) {
      return { ...block, content: [{ type: 'text', text: cleared }] };
    }
    if (block.type !== 'tool_use' || !ids.has(block.id)) return block;
    const isCleared = typeof inputs === 'boolean' ? inputs : inputs.includes(block.name);
    return isCleared ? { ...block, input: {} } : block;
  };
  return {
    messages: messages.map((message) => ({ ...message, content: message.content.map(clear) })),
    count: ids.size,
  };
}

/** Removes thinking from all turns except the last ones. */
function clearThinking({ keep }: ThinkingEdit, messages: Message[]): Cleared {
  if (keep === 'all' || keep?.type === 'all') return { messages, count: 0 };
  const thinks = ({ content }: Message) => content.some(({ type }) => /thinking/.test(type));
  const thinking = messages.filter(thinks);
  const gone = thinking.slice(0, Math.max(0, thinking.length - (keep?.value ?? thinkingTurnsKept)));
  const without = ({ content, ...rest }: Message) => ({
    ...rest,
    content: content.filter(({ type }) => !/thinking/.test(type)),
  });
  return {
    messages: messages.map((message) => (gone.includes(message) ? without(message) : message)),
    count: gone.length,
  };
}
