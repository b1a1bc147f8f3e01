import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { ContentPart, ImagePart, ToolCall, Turn } from '../../core/text/conversation.ts';
import { parseExact } from '../read-json.ts';
import { imageSource } from './images.ts';

type TurnOf<Role extends Turn['role']> = Extract<Turn, { readonly role: Role }>;

/** One content block and where the client put it. `fetched`: an image whose source is to be filled in. */
export interface Block {
  readonly value: JsonObject;
  readonly param: string;
  readonly fetched?: ImagePart;
}

export interface Message {
  readonly role: 'user' | 'assistant';
  /** Results of the calls before it: they come first, whatever their order among the client's turns. */
  readonly results: Block[];
  readonly content: Block[];
}

export interface VendorTurns {
  /** Instructions of all system turns; undefined without any. */
  readonly system: string | undefined;
  readonly messages: readonly Message[];
}

export const blocksOf = ({ results, content }: Message): readonly Block[] => [...results, ...content];

/**
 * Turns as the vendor takes them: neighbors of one role are one message, and an empty answer is left out. Instructions stand before all messages, wherever the
 * client put them, as in the vendor's own layer for OpenAI's SDK:
 * https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk
 */
export const toVendorTurns = (turns: readonly Turn[], modelId: string): VendorTurns => {
  const instructions = turns.flatMap((turn) => (turn.role === 'system' && turn.text.trim() !== '' ? turn.text : []));
  const messages = new Messages();
  for (const turn of turns) messages.add(turn, modelId);
  if (messages.list.length === 0)
    throw invalidMessages('messages', 'needs at least one message beside the instructions.');
  return { system: instructions.length > 0 ? instructions.join('\n') : undefined, messages: messages.list };
};

class Messages {
  readonly list: Message[] = [];
  /** Ids of the latest assistant message: only the message after it may have their results. */
  #calls = new Set<string>();

  add(turn: Turn, modelId: string): void {
    switch (turn.role) {
      case 'system':
        return;
      case 'tool':
        if (!this.#calls.has(turn.callId)) throw withoutCall(turn);
        this.#last('user').results.push(toResult(turn));
        return;
      case 'user':
        this.#last('user').content.push(...toUserBlocks(turn, modelId));
        return;
      case 'assistant': {
        const blocks = toAssistantBlocks(turn);
        if (blocks.length === 0) return;
        this.#last('assistant').content.push(...blocks);
        for (const { id } of turn.toolCalls) this.#calls.add(id);
      }
    }
  }

  #last(role: Message['role']): Message {
    const last = this.list.at(-1);
    if (last?.role === role) return last;
    if (role === 'assistant') this.#calls = new Set();
    const next: Message = { role, results: [], content: [] };
    this.list.push(next);
    return next;
  }
}

const invalidMessages = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_messages', `${param}: ${message}`, { param });

const withoutCall = ({ param }: TurnOf<'tool'>): GatewayError =>
  invalidMessages(`${param}.tool_call_id`, 'no call with this id stands in the assistant message before it.');

const toResult = ({ callId, text, param }: TurnOf<'tool'>): Block => ({
  value: { type: 'tool_result', tool_use_id: callId, ...(text === '' ? {} : { content: text }) },
  param,
});

const textBlock = (text: string, param: string): Block => ({ value: { type: 'text', text }, param });

const toUserBlocks = ({ content, param }: TurnOf<'user'>, modelId: string): readonly Block[] => {
  // An empty text is refused, also beside other parts (github.com/LibreChat-AI/agents/pull/124).
  const said = [...content.entries()].filter(([, part]) => part.kind !== 'text' || part.text !== '');
  if (said.length === 0) throw invalidMessages(`${param}.content`, 'must not be empty.');
  // A single text may have been the content itself.
  const place = (index: number): string => (content.length === 1 ? `${param}.content` : `${param}.content[${index}]`);
  return said.map(([index, part]) => toPartBlock(part, place(index), modelId));
};

const toPartBlock = (part: ContentPart, param: string, modelId: string): Block => {
  if (part.kind === 'text') return textBlock(part.text, param);
  if (part.kind === 'video') throw invalidRequest(part.param, `${part.param}: "${modelId}" does not take videos.`);
  const source = imageSource(part);
  if (!source) return { value: { type: 'image' }, param: part.param, fetched: part };
  return { value: { type: 'image', source }, param: part.param };
};

/** Empty for an answer that was cut while the model was thinking. The vendor refuses a block of blanks, which says nothing. */
const toAssistantBlocks = ({ text, toolCalls, param }: TurnOf<'assistant'>): readonly Block[] => {
  const calls = toolCalls.map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`));
  return text.trim() === '' ? calls : [textBlock(text, `${param}.content`), ...calls];
};

const toToolUse = ({ id, name, arguments: text }: ToolCall, param: string): Block => ({
  value: { type: 'tool_use', id, name, input: toInput(text, `${param}.function.arguments`) },
  param,
});

const toInput = (text: string, param: string): JsonObject => {
  if (text.trim() === '') return {};
  try {
    // A bare number, too, would come back as an object.
    const input = text.trimStart().startsWith('{') ? parseExact(text) : undefined;
    if (isJsonObject(input)) return input;
  } catch {}
  throw invalidMessages(param, 'must be a JSON object, nested at most 64 levels deep.');
};
