import { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { ContentPart, ToolCall, Turn } from '../../core/text/conversation.ts';
import { parseExact } from '../read-json.ts';
import { isVendorsId } from './function-calls.ts';
import { type ImageSlot, toMediaPart } from './media.ts';

/**
 * The vendor refuses calls without the signature of the thoughts that led to them; this stands for one that the client does not
 * have. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

type Kind = 'user' | 'assistant' | 'tool';

interface Content {
  readonly kind: Kind;
  readonly parts: JsonObject[];
}

interface Contents {
  readonly contents: readonly JsonObject[];
  /** Images whose bytes have to be fetched. */
  readonly slots: readonly ImageSlot[];
}

/**
 * Neighbors of one kind become one content. An empty answer, cut while the model was thinking, is left out. Results of tools stay a content by themselves: the vendor wants as many of them as there
 * were calls in the content before. System turns have their place elsewhere.
 */
export const toContents = (turns: readonly Turn[]): Contents => {
  const found: Content[] = [];
  const slots: ImageSlot[] = [];
  const calls = new Map<string, ToolCall>();
  for (const turn of turns) {
    if (turn.role === 'system') continue;
    const parts = toParts(turn, calls, slots);
    if (parts.length === 0) continue;
    const last = found.at(-1);
    if (last?.kind === turn.role) last.parts.push(...parts);
    else found.push({ kind: turn.role, parts });
  }
  const contents = found.map(({ kind, parts }) => ({ role: kind === 'assistant' ? 'model' : 'user', parts }));
  return { contents, slots };
};

const toParts = (
  turn: Exclude<Turn, { role: 'system' }>,
  calls: Map<string, ToolCall>,
  slots: ImageSlot[],
): JsonObject[] => {
  switch (turn.role) {
    case 'user':
      return saidIn(turn).map((part) => (part.kind === 'text' ? { text: part.text } : toMediaPart(part, slots)));
    case 'assistant': {
      for (const call of turn.toolCalls) calls.set(call.id, call);
      const text = turn.text === '' ? [] : [{ text: turn.text }];
      return [...text, ...turn.toolCalls.map((call, index) => toCallPart(call, index, turn.param))];
    }
    case 'tool':
      return [toResponsePart(turn, calls)];
  }
};

/** The vendor refuses an empty text, also beside other parts. */
const saidIn = ({ content, param }: Extract<Turn, { role: 'user' }>): readonly ContentPart[] => {
  const said = content.filter((part) => part.kind !== 'text' || part.text !== '');
  if (said.length > 0) return said;
  throw new GatewayError('invalid_messages', `${param}.content: must not be empty.`, { param: `${param}.content` });
};

const toCallPart = ({ id, name, arguments: text, signature }: ToolCall, index: number, param: string): JsonObject => {
  const args = toObject(text.trim() === '' ? '{}' : text);
  if (!args) {
    const place = `${param}.tool_calls[${index}].function.arguments`;
    throw new GatewayError('invalid_messages', `${place}: must be a JSON object.`, { param: place });
  }
  // Of parallel calls only the first has a signature.
  const thoughtSignature = signature ?? (index === 0 ? NO_SIGNATURE : undefined);
  return {
    functionCall: { ...idMember(id), name, args },
    ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
  };
};

const toResponsePart = (
  { callId, text, param }: Extract<Turn, { role: 'tool' }>,
  calls: Map<string, ToolCall>,
): JsonObject => {
  const call = calls.get(callId);
  if (!call) {
    const place = `${param}.tool_call_id`;
    const message = `${place}: answers no call of an assistant message before it, or one that has its answer.`;
    throw new GatewayError('invalid_messages', message, { param: place });
  }
  // One result for each call: a second one would repeat its name.
  calls.delete(callId);
  const response = toObject(text) ?? { result: text };
  return { functionResponse: { ...idMember(callId), name: call.name, response } };
};

/** A call and its response have the same id, or both have none. https://ai.google.dev/api/caching#FunctionCall */
const idMember = (id: string): JsonObject => (isVendorsId(id) ? { id } : {});

/** With the digits of its numbers as they came: written out in full, 1e20 would have become longer than what was paid for. */
const toObject = (text: string): JsonObject | undefined => {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseExact(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
