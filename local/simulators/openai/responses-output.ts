import type { Composed } from '../compose.ts';
import type { Scenario } from '../scenario.ts';
import { splitTokens } from '../tokens.ts';
import { toToolCallId } from './chat-fields.ts';
import type { Ids } from './responses-ids.ts';
import { includesEncryptedReasoning, type ResponsesRequest } from './responses-request.ts';
import { callableTools } from './responses-tools.ts';

type Status = 'completed' | 'incomplete';

/** Output item, with its text in the pieces of the stream. */
export type OutputItem = ReasoningOutput | MessageOutput | CallOutput;

export type ReasoningOutput = {
  readonly type: 'reasoning';
  readonly id: string;
  /** Empty unless a summary is requested. */
  readonly summary: readonly string[];
  readonly encrypted: string | undefined;
};

export type MessageOutput = {
  readonly type: 'message';
  readonly id: string;
  readonly pieces: readonly string[];
  readonly refused: boolean;
  readonly phase: string | undefined;
  readonly status: Status;
};

export type CallOutput = {
  readonly type: 'function_call' | 'custom_tool_call';
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** Pieces of the JSON arguments, or of the input of a custom tool. */
  readonly pieces: readonly string[];
  readonly status: Status;
};

/**
 * Reasoning first, if any; then commentary, if the scenario asks for it; then the calls or the message, unless the cap or
 * the filter removed them. Commentary labels itself, and often repeats the answer:
 * https://github.com/langchain4j/langchain4j/issues/6399 (2026-09-14)
 */
export function toOutput(
  composed: Composed,
  request: ResponsesRequest,
  ids: Ids,
  scenario: Scenario,
): readonly OutputItem[] {
  const broken = composed.ending === 'length' || composed.ending === 'blocked';
  const offered = callableTools(request.tools);
  const calls = composed.toolCalls.map(({ name, argumentPieces }, index, all): CallOutput => {
    const status = broken && index === all.length - 1 ? 'incomplete' : 'completed';
    const tool = offered.find((candidate) => candidate.name === name);
    const shared = { callId: toToolCallId(), name, namespace: tool?.namespace, status } as const;
    return tool?.type === 'custom'
      ? { type: 'custom_tool_call', id: ids.item('ctc', index), pieces: toInputPieces(argumentPieces), ...shared }
      : { type: 'function_call', id: ids.item('fc', index), pieces: argumentPieces, ...shared };
  });
  const message: MessageOutput = {
    type: 'message',
    id: ids.item('msg', 0),
    pieces: composed.content,
    refused: scenario.modelRefuses === true,
    phase: /^gpt-(5\.[3-9]|6)/.test(request.model) ? 'final_answer' : undefined,
    status: broken ? 'incomplete' : 'completed',
  };
  const nothing = calls.length > 0 || (broken && composed.content.length === 0);
  const commentary: MessageOutput = {
    ...{ type: 'message', id: ids.item('msg', 1), pieces: splitTokens('I will look first.') },
    ...{ refused: false, phase: 'commentary', status: 'completed' },
  };
  return [
    ...toReasoning(composed, request, ids),
    ...(scenario.commentary ? [commentary] : []),
    ...calls,
    ...(nothing ? [] : [message]),
  ];
}

function toReasoning({ reasoningTokens }: Composed, request: ResponsesRequest, ids: Ids): readonly ReasoningOutput[] {
  if (reasoningTokens === 0) return [];
  const asked = request.reasoning?.summary != null;
  const summary = asked ? splitTokens(`**Simulated thought** It took ${reasoningTokens} tokens.`) : [];
  const encrypted = includesEncryptedReasoning(request) ? sealed(ids.reasoning) : undefined;
  return [{ type: 'reasoning', id: ids.reasoning, summary, encrypted }];
}

/** A custom tool receives text: the string in the JSON, or other JSON unchanged. A cap can cut the string. */
function toInputPieces(argumentPieces: readonly string[]): readonly string[] {
  const json = argumentPieces.join('');
  for (const whole of [json, `${json}"`]) {
    try {
      const text: unknown = JSON.parse(whole);
      if (typeof text === 'string') return splitTokens(text);
    } catch {
      // The next attempt closes the string.
    }
  }
  return argumentPieces;
}

function sealed(id: string): string {
  return `gAAAAAB${Buffer.from(`simulated thoughts of ${id}`).toString('base64url')}`;
}

/** Returns the finished item. */
export function toFinished(item: OutputItem) {
  switch (item.type) {
    case 'reasoning':
      return toReasoningItem(item, item.encrypted, item.summary.length === 0 ? [] : [toSummaryPart(item.summary)]);
    case 'message':
      return toMessageItem(item, item.status, [toPart(item, item.pieces)]);
    default:
      return toCallItem(item, item.status, item.pieces.join(''));
  }
}

/** Item as a stream announces it; encrypted content is complete only at the end. */
export function toBegun(item: OutputItem) {
  switch (item.type) {
    case 'reasoning':
      return toReasoningItem(item, item.encrypted?.slice(0, 20), []);
    case 'message':
      return toMessageItem(item, 'in_progress', []);
    default:
      return toCallItem(item, 'in_progress', '');
  }
}

function toReasoningItem({ id, type }: ReasoningOutput, encrypted: string | undefined, summary: readonly object[]) {
  return { id, type, summary, ...(encrypted === undefined ? {} : { encrypted_content: encrypted }) };
}

function toMessageItem({ id, type, phase }: MessageOutput, status: string, content: readonly object[]) {
  return { id, type, status, role: 'assistant', content, ...(phase === undefined ? {} : { phase }) };
}

function toCallItem({ id, type, callId, name, namespace }: CallOutput, status: string, text: string) {
  const content = type === 'custom_tool_call' ? { input: text } : { arguments: text };
  return { id, type, status, call_id: callId, name, ...content, ...(namespace === undefined ? {} : { namespace }) };
}

export function toSummaryPart(pieces: readonly string[]) {
  return { type: 'summary_text', text: pieces.join('') };
}

export function toPart({ refused }: MessageOutput, pieces: readonly string[]) {
  const text = pieces.join('');
  return refused ? { type: 'refusal', refusal: text } : { type: 'output_text', annotations: [], logprobs: [], text };
}
