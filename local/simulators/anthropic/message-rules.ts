import type { VendorRefusal } from '../wire.ts';
import { refuseDocuments } from './document-rules.ts';
import { anthropicError } from './error.ts';
import { refuseImages } from './image-rules.ts';
import type { ModelFacts } from './model-facts.ts';
import type { CountRequest, Message } from './request.ts';
import type { Block } from './request-blocks.ts';
import { signatureOf } from './signature.ts';
import { isDirective, refuseSystemMessages } from './system-rules.ts';
import { refuseToolPairs } from './tool-rules.ts';
import { toTurns } from './turns.ts';

type Rule = (request: CountRequest, facts: ModelFacts) => VendorRefusal | undefined;

/**
 * Rules for the conversation. The messages are the provider's, as users reported them:
 * https://github.com/langchain-ai/langchain/pull/31696, https://github.com/lobehub/lobehub/issues/1601,
 * https://github.com/writingmate/chatlabs/pull/35, https://github.com/anthropics/claude-code/issues/59812,
 * https://github.com/anthropics/claude-code/issues/55302, https://github.com/agenticloops-ai/agentic-ai-engineering/issues/43,
 * https://github.com/anthropics/claude-code/issues/10627, https://github.com/deepset-ai/haystack-core-integrations/issues/2146.
 */
export const messageRules: readonly Rule[] = [
  refuseSystemMessages,
  refuseEmptyConversation,
  refuseEmptyText,
  refuseMisplacedBlocks,
  refuseToolPairs,
  refusePrefill,
  refuseSignatures,
  refuseMissingThinking,
  refuseImages,
  refuseDocuments,
];

function refuseEmptyConversation({ messages }: CountRequest): VendorRefusal | undefined {
  if (messages.length === 0) return anthropicError(400, 'messages: at least one message is required');
  if (messages.find(({ role }) => role !== 'system')?.role !== 'user') {
    return anthropicError(400, 'messages: first message must use the "user" role');
  }
  const isOptional = (message: Message, index: number) =>
    (index === messages.length - 1 && message.role === 'assistant') || isDirective(message);
  if (messages.every((message, index) => message.content.length > 0 || isOptional(message, index))) return undefined;
  const words = 'messages: all messages must have non-empty content except for the optional final assistant message';
  return anthropicError(400, words);
}

/**
 * Any blank text is rejected. Sources disagree about one beside other text:
 * https://github.com/home-assistant/core/issues/175637 (2026-07-04, rejected),
 * https://github.com/LibreChat-AI/agents/pull/124 (2026-04-30, accepted). For the system prompt:
 * https://github.com/anomalyco/opencode/issues/35101 (2026-07-03).
 */
function refuseEmptyText({ messages, system = [] }: CountRequest): VendorRefusal | undefined {
  for (const [at, { content }] of messages.entries()) {
    const empty = content.findIndex((block) => block.type === 'text' && isBlank(block.text));
    const found = content[empty];
    if (found?.type !== 'text') continue;
    if (!('cache_control' in found) || found.cache_control == null) return emptyText('messages', found.text);
    const words = 'cache_control cannot be set for empty text blocks';
    return anthropicError(400, `messages.${at}.content.${empty}.text: ${words}`);
  }
  const empty = system.find(({ text }) => isBlank(text));
  return empty && emptyText('system', empty.text);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function emptyText(field: string, text: string): VendorRefusal {
  const problem = text === '' ? 'be non-empty' : 'contain non-whitespace text';
  return anthropicError(400, `${field}: text content blocks must ${problem}`);
}

const rolesByType: Readonly<Partial<Record<Block['type'], Message['role']>>> = {
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_result: 'user',
  image: 'user',
  document: 'user',
  search_result: 'user',
  tool_addition: 'system',
  tool_removal: 'system',
};

function refuseMisplacedBlocks({ messages }: CountRequest): VendorRefusal | undefined {
  for (const [at, { role, content }] of messages.entries()) {
    const found = content.find(({ type }) => (rolesByType[type] ?? role) !== role);
    if (found === undefined) continue;
    const words = `\`${found.type}\` blocks can only be in \`${rolesByType[found.type]}\` messages`;
    return anthropicError(400, `messages.${at}: ${words}`);
  }
  return undefined;
}

/** Source of the rule for blanks at the end: https://github.com/tailcallhq/forgecode/issues/1872 (2025-11-08) */
function refusePrefill({ messages }: CountRequest, facts: ModelFacts): VendorRefusal | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  const end = last.content.at(-1);
  if (facts.prefill) {
    return end?.type === 'text' && end.text !== end.text.trimEnd()
      ? anthropicError(400, 'messages: final assistant content cannot end with trailing whitespace')
      : undefined;
  }
  const words = 'This model does not support assistant message prefill. The conversation must end with a user message.';
  return anthropicError(400, words);
}

/** Rejects a thinking block that was changed. */
function refuseSignatures({ messages }: CountRequest): VendorRefusal | undefined {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of content.entries()) {
      if (block.type !== 'thinking' || block.signature === signatureOf(block.thinking)) continue;
      const words = 'Invalid `signature` in `thinking` block';
      return anthropicError(400, `messages.${at}.content.${index}: ${words}`);
    }
  }
  return undefined;
}

/** With a budget, the turn that called the tools must start with its thinking. Adaptive models do not require it. */
function refuseMissingThinking({ messages, thinking }: CountRequest): VendorRefusal | undefined {
  if (thinking?.type !== 'enabled') return undefined;
  const turns = toTurns(messages);
  const asked = turns.findLastIndex(({ role, blocks }) => role === 'user' && blocks.some(isNoResult));
  const called = turns[asked + 1];
  const first = called?.blocks[0];
  if (called === undefined || first === undefined || /thinking/.test(first.type)) return undefined;
  const words =
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final ` +
    '`assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` ' +
    'blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.';
  return anthropicError(400, `messages.${called.at}.content.0.type: ${words}`);
}

function isNoResult({ type }: Block): boolean {
  return type !== 'tool_result';
}
