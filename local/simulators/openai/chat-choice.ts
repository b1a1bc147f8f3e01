import { type Ask, type ComposedCall, compose, reasoningTokensByEffort } from '../compose.ts';
import type { Scenario } from '../scenario.ts';
import { type ChatRequest, imagesOf, lastUserMessage, messageText, outputCap } from './chat-request.ts';
import { seenImage } from './image-tokens.ts';
import { isReasoningModel } from './model-traits.ts';

export type Choice = {
  /** Pieces of text, or the reason for none. */
  readonly content: readonly string[];
  readonly refused: boolean;
  readonly toolCalls: readonly ComposedCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly reasoningTokens: number;
  readonly outputTokens: number;
};

export function composeChoice(request: ChatRequest, scenario: Scenario): Choice {
  const { content, toolCalls, ending, reasoningTokens, outputTokens } = compose(toAsk(request), scenario);
  // As at the provider, a call that the client has demanded by name ends with `stop`.
  const isNamed = typeof (request.tool_choice ?? 'auto') === 'object';
  const finished = ending === 'tool_calls' && isNamed ? 'stop' : ending;
  const refused = scenario.modelRefuses === true;
  return { content, refused, toolCalls, finishReason: finishReasons[finished], reasoningTokens, outputTokens };
}

const finishReasons = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  blocked: 'content_filter',
} as const;

function toAsk(request: ChatRequest): Ask {
  const { messages, response_format: format } = request;
  const tools = request.tools ?? [];
  const choice = request.tool_choice ?? 'auto';
  const user = lastUserMessage(request);
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  const effort = request.reasoning_effort ?? 'medium';
  return {
    model: request.model,
    prompt: user === undefined ? '' : messageText(user),
    images: imagesOf(user).map(({ url }) => seenImage(url)),
    toolResults: results.map(messageText),
    // Offers tools only right after a user message. Otherwise an unscripted model writes text, for example from tool
    // results or to continue its own message.
    tools: messages.at(-1)?.role === 'user' ? tools.map(toAskTool) : [],
    toolChoice: typeof choice === 'string' ? choice : { name: choice.function.name },
    parallelTools: request.parallel_tool_calls !== false,
    format: toAskFormat(format),
    stop: [request.stop ?? []].flat(),
    cap: outputCap(request),
    reasoningTokens: isReasoningModel(request.model) ? (reasoningTokensByEffort[effort] ?? 0) : 0,
  };
}

function toAskTool({ function: { name, parameters } }: NonNullable<ChatRequest['tools']>[number]) {
  return { name, schema: parameters ?? { type: 'object' } };
}

function toAskFormat(format: ChatRequest['response_format']): Ask['format'] {
  if (format?.type === 'json_schema') return { schema: format.json_schema.schema ?? { type: 'object' } };
  return format?.type === 'json_object' ? 'json' : 'text';
}
