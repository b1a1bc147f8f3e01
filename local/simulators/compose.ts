import { sampleJson } from './json-sample.ts';
import { type Scenario, withoutMarkers } from './scenario.ts';
import { splitTokens } from './tokens.ts';

/** Request in the form that all providers share. The rules of its provider have already accepted it. */
export type Ask = {
  readonly model: string;
  /** Text of the last user message, including markers. */
  readonly prompt: string;
  /** Media types of the images in the last user message: `image/png`. */
  readonly images: readonly string[];
  /** Texts of the tool results after the last user message. */
  readonly toolResults: readonly string[];
  readonly tools: readonly { readonly name: string; readonly schema: unknown }[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelTools: boolean;
  readonly format: 'text' | 'json' | { readonly schema: unknown };
  readonly stop: readonly string[];
  /** Infinity without a cap. */
  readonly cap: number;
  /** Reasoning tokens of the model, before the token limit and the scenario apply. */
  readonly reasoningTokens: number;
};

/** Output cut to its cap, in the pieces of its stream. A piece is a token unless the scenario requests raw bytes. */
export type Composed = {
  /** Text of a refusal, if the scenario makes the model refuse. */
  readonly content: readonly string[];
  readonly toolCalls: readonly ComposedCall[];
  readonly ending: 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'blocked';
  readonly stopSequence?: string;
  readonly reasoningTokens: number;
  /** Includes reasoning. */
  readonly outputTokens: number;
};

export type ComposedCall = { readonly name: string; readonly argumentPieces: readonly string[] };

type Ending = Omit<Composed, 'reasoningTokens'>;

const pieceBytes = 16_384;

export const reasoningTokensByEffort: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 8,
  low: 16,
  medium: 32,
  high: 64,
  xhigh: 128,
  max: 256,
};

/** Every response to the same request is equal; nothing is random. */
export function compose(ask: Ask, scenario: Scenario): Composed {
  const reasoningTokens = Math.min(ask.cap, scenario.claimedUsage?.reasoning ?? ask.reasoningTokens);
  const spoken = composeWithin(ask.cap - reasoningTokens, ask, scenario);
  return { ...spoken, reasoningTokens, outputTokens: reasoningTokens + spoken.outputTokens };
}

function composeWithin(cap: number, ask: Ask, scenario: Scenario): Ending {
  if (scenario.textBytes !== undefined) return bulk(scenario.textBytes, cap);
  const calls = scenario.modelRefuses ? [] : (scenario.script?.calls ?? composeToolCalls(ask));
  if (calls.length > 0) return capToolCalls(calls, cap);

  const { text, stopSequence } = untilStop(composeText(ask, scenario), ask.stop);
  const pieces = splitTokens(text);
  const { contentFilterAfter } = scenario;
  if (contentFilterAfter !== undefined) {
    const content = pieces.slice(0, Math.min(contentFilterAfter, cap));
    return { content, toolCalls: [], ending: 'blocked', outputTokens: content.length };
  }
  const content = pieces.slice(0, cap);
  const said = { content, toolCalls: [], outputTokens: content.length };
  if (content.length < pieces.length) return { ...said, ending: 'length' };
  return stopSequence === undefined ? { ...said, ending: 'stop' } : { ...said, ending: 'stop_sequence', stopSequence };
}

function composeText(ask: Ask, scenario: Scenario): string {
  if (scenario.modelRefuses) return "I'm sorry, but I can't help with that.";
  if (scenario.words !== undefined) return Array.from({ length: scenario.words }, () => 'word').join(' ');
  const { model, images, format } = ask;
  const prompt = withoutMarkers(ask.prompt);
  if (typeof format === 'object') {
    const hint = (name: string) => (/prompt|question|input/i.test(name) ? prompt : undefined);
    return JSON.stringify(sampleJson(format.schema, hint));
  }
  if (format === 'json') return JSON.stringify({ answer: prompt.slice(0, 200) });
  if (ask.toolResults.length > 0) return `According to the tool: ${ask.toolResults.join('; ')}`;
  const look = images.length === 0 ? '' : `I see ${images.length} image(s): ${images.join(', ')}. `;
  return `${look}This is a simulated answer of ${model}. You wrote: ${prompt.slice(0, 200)}`;
}

const cities = ['Amsterdam', 'Berlin', 'Boston', 'London', 'Madrid', 'Moscow', 'New York', 'Paris', 'Rome', 'Tokyo'];

/** Coding agents offer more tools and execute calls, so they receive scripted calls only. */
const SAMPLED_TOOLS_MAX = 5;

/** One call, or one for each city in the prompt, which is the usual test of parallel calls. */
function composeToolCalls(ask: Ask): readonly { name: string; argumentsJson: string }[] {
  const { tools, toolChoice: choice } = ask;
  if (choice === 'none' || ask.toolResults.length > 0) return [];
  const tool = typeof choice === 'string' ? tools[0] : tools.find(({ name }) => name === choice.name);
  if (tool === undefined || (choice === 'auto' && tools.length > SAMPLED_TOOLS_MAX)) return [];
  const prompt = withoutMarkers(ask.prompt).toLowerCase();
  const named = cities.filter((city) => prompt.includes(city.toLowerCase()));
  const parallel = ask.parallelTools ? named : named.slice(0, 1);
  const places = parallel.length === 0 ? [undefined] : parallel;
  return places.map((place) => ({
    name: tool.name,
    argumentsJson: JSON.stringify(
      sampleJson(tool.schema, (property) => (/city|location|place|town/i.test(property) ? place : undefined)),
    ),
  }));
}

function capToolCalls(calls: readonly { name: string; argumentsJson: string }[], cap: number): Ending {
  const toolCalls: ComposedCall[] = [];
  let left = cap;
  let cut = false;
  for (const { name, argumentsJson } of calls) {
    const pieces = splitTokens(argumentsJson);
    if (left > 0) toolCalls.push({ name, argumentPieces: pieces.slice(0, left) });
    cut ||= pieces.length > left;
    left = Math.max(0, left - pieces.length);
  }
  const outputTokens = toolCalls.reduce((sum, call) => sum + call.argumentPieces.length, 0);
  return { content: [], toolCalls, ending: cut ? 'length' : 'tool_calls', outputTokens };
}

function bulk(bytes: number, cap: number): Ending {
  const piece = 'abcdefg '.repeat(pieceBytes / 8);
  const content = Array.from({ length: Math.floor(bytes / pieceBytes) }, () => piece);
  if (bytes % pieceBytes > 0) content.push(piece.slice(0, bytes % pieceBytes));
  return { content, toolCalls: [], ending: 'stop', outputTokens: Math.min(cap, Math.ceil(bytes / 5)) };
}

function untilStop(text: string, stop: readonly string[]): { text: string; stopSequence?: string } {
  let end: { text: string; stopSequence?: string } = { text };
  for (const stopSequence of stop) {
    const at = end.text.indexOf(stopSequence);
    if (at >= 0) end = { text: text.slice(0, at), stopSequence };
  }
  return end;
}
