import { readImageInput } from './image-input.ts';
import { sampleJson } from './json-sample.ts';
import { type ChatRequest, imagesOf, lastUserMessage, messageText, outputCap } from './openai-chat-request.ts';
import { isReasoningModel } from './openai-chat-rules.ts';
import { type Scenario, withoutMarkers } from './scenario.ts';
import { splitTokens } from './tokens.ts';

/** One choice, cut to its cap, in the pieces it is streamed in; a piece is a token unless the scenario asks for sheer bytes. */
export type Choice = {
  readonly content: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly reasoningTokens: number;
  readonly outputTokens: number;
};

export type ToolCall = { readonly name: string; readonly argumentPieces: readonly string[] };

const pieceBytes = 16_384;

const reasoningTokensByEffort: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 8,
  low: 16,
  medium: 32,
  high: 64,
  xhigh: 128,
  max: 256,
};

/** The same for every choice of a request: nothing here is left to chance. */
export function composeChoice(request: ChatRequest, scenario: Scenario): Choice {
  const cap = outputCap(request);
  const effort = request.reasoning_effort ?? 'medium';
  const wanted = isReasoningModel(request.model) ? (reasoningTokensByEffort[effort] ?? 0) : 0;
  const reasoningTokens = Math.min(cap, scenario.claimedUsage?.reasoning ?? wanted);
  const rest = cap - reasoningTokens;
  const calls = scenario.textBytes === undefined ? composeToolCalls(request) : [];
  if (calls.length > 0) return capToolCalls(calls, request, rest, reasoningTokens);
  if (scenario.textBytes !== undefined) return bulkChoice(scenario.textBytes, rest, reasoningTokens);

  const pieces = splitTokens(untilStop(composeText(request, scenario), request.stop));
  const { contentFilterAfter } = scenario;
  if (contentFilterAfter !== undefined) {
    const content = pieces.slice(0, Math.min(contentFilterAfter, rest));
    const outputTokens = reasoningTokens + content.length;
    return { content, toolCalls: [], finishReason: 'content_filter', reasoningTokens, outputTokens };
  }
  const content = pieces.slice(0, rest);
  const finishReason = content.length < pieces.length ? 'length' : 'stop';
  return { content, toolCalls: [], finishReason, reasoningTokens, outputTokens: reasoningTokens + content.length };
}

function composeText(request: ChatRequest, scenario: Scenario): string {
  if (scenario.words !== undefined) return Array.from({ length: scenario.words }, () => 'word').join(' ');
  const format = request.response_format;
  const last = request.messages.at(-1);
  const results = request.messages.slice(request.messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  const prompt = promptOf(request);
  if (format?.type === 'json_schema') {
    const hint = (name: string) => (/prompt|question|input/i.test(name) ? prompt : undefined);
    return JSON.stringify(sampleJson(format.json_schema.schema ?? { type: 'object' }, hint));
  }
  if (format?.type === 'json_object') return JSON.stringify({ answer: prompt.slice(0, 200) });
  if (last?.role === 'tool') return `According to the tool: ${results.map(messageText).join('; ')}`;
  const images = imagesOf(lastUserMessage(request)).map(({ url }) => readImageInput(url));
  const seen = images.map((image) => (image.kind === 'image' ? image.mediaType : image.kind)).join(', ');
  const look = images.length === 0 ? '' : `I see ${images.length} image(s): ${seen}. `;
  return `${look}This is a simulated answer of ${request.model}. You wrote: ${prompt.slice(0, 200)}`;
}

const cities = ['Amsterdam', 'Berlin', 'Boston', 'London', 'Madrid', 'Moscow', 'New York', 'Paris', 'Rome', 'Tokyo'];

/** One call, or one for each city the prompt names: the usual way to try parallel calls. */
function composeToolCalls(request: ChatRequest): readonly { name: string; argumentsJson: string }[] {
  const { tools = [], tool_choice: choice = 'auto' } = request;
  if (choice === 'none' || request.messages.at(-1)?.role !== 'user') return [];
  const chosen = typeof choice === 'string' ? undefined : choice.function.name;
  const tool = chosen === undefined ? tools[0] : tools.find((candidate) => candidate.function.name === chosen);
  if (tool === undefined) return [];
  const prompt = promptOf(request);
  const named = cities.filter((city) => prompt.toLowerCase().includes(city.toLowerCase()));
  const parallel = request.parallel_tool_calls === false ? named.slice(0, 1) : named;
  const places = parallel.length === 0 ? [undefined] : parallel;
  const schema = tool.function.parameters ?? { type: 'object' };
  return places.map((place) => ({
    name: tool.function.name,
    argumentsJson: JSON.stringify(
      sampleJson(schema, (property) => (/city|location|place|town/i.test(property) ? place : undefined)),
    ),
  }));
}

function capToolCalls(
  calls: readonly { name: string; argumentsJson: string }[],
  request: ChatRequest,
  cap: number,
  reasoningTokens: number,
): Choice {
  const toolCalls: ToolCall[] = [];
  let left = cap;
  let cut = false;
  for (const { name, argumentsJson } of calls) {
    const pieces = splitTokens(argumentsJson);
    if (left > 0) toolCalls.push({ name, argumentPieces: pieces.slice(0, left) });
    cut ||= pieces.length > left;
    left = Math.max(0, left - pieces.length);
  }
  const spent = toolCalls.reduce((sum, call) => sum + call.argumentPieces.length, 0);
  // A call that the client demanded by name ends as a plain stop: the vendor's own peculiarity.
  const finished = typeof request.tool_choice === 'object' ? 'stop' : 'tool_calls';
  const finishReason = cut ? 'length' : finished;
  return { content: [], toolCalls, finishReason, reasoningTokens, outputTokens: reasoningTokens + spent };
}

function bulkChoice(bytes: number, cap: number, reasoningTokens: number): Choice {
  const piece = 'abcdefg '.repeat(pieceBytes / 8);
  const content = Array.from({ length: Math.floor(bytes / pieceBytes) }, () => piece);
  if (bytes % pieceBytes > 0) content.push(piece.slice(0, bytes % pieceBytes));
  const outputTokens = reasoningTokens + Math.min(cap, Math.ceil(bytes / 5));
  return { content, toolCalls: [], finishReason: 'stop', reasoningTokens, outputTokens };
}

function untilStop(text: string, stop: ChatRequest['stop']): string {
  const ends = [stop ?? []]
    .flat()
    .map((word) => text.indexOf(word))
    .filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

function promptOf(request: ChatRequest): string {
  const message = lastUserMessage(request);
  return message === undefined ? '' : withoutMarkers(messageText(message));
}
