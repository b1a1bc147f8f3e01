import type { JsonObject } from '../../core/json.ts';
import type { ChatBody } from './body.ts';
import type { ChatMessage, ToolCall } from './messages.ts';

type Part = Extract<ChatMessage, { role: 'assistant' }>['content'];
export type Said = Exclude<
  Extract<Part, readonly unknown[]>[number],
  { type: 'thinking' | 'reasoning' | 'redacted_thinking' }
>;

/** What an assistant said, without what it thought. */
export const saidIn = (parts: Extract<Part, readonly unknown[]>): readonly Said[] =>
  parts.filter((part) => part.type === 'text' || part.type === 'refusal');

/** The body a vendor of the same protocol gets. `extras` are fields that only the model's entry knows, as the client sent them. */
export const toSend = (body: ChatBody, extras: JsonObject): JsonObject => {
  const { messages, tools, stream_options: options, ...rest } = body;
  const kept = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...Object.fromEntries(kept),
    messages: messages.map(toMessage),
    // Ignored without a stream (CHAT-1).
    ...(body.stream && options ? { stream_options: options } : {}),
    ...(tools?.length ? { tools } : {}),
    ...extras,
  };
};

const toMessage = (message: ChatMessage): JsonObject => {
  if (message.role !== 'assistant') return message;
  const { content, tool_calls: calls, ...rest } = message;
  const said = Array.isArray(content) ? saidIn(content) : content;
  return {
    ...rest,
    ...(said === undefined ? {} : { content: Array.isArray(said) && said.length === 0 ? '' : said }),
    ...(calls?.length ? { tool_calls: calls.map(toCall) } : {}),
  };
};

const toCall = ({ id, type, function: { name, arguments: text } }: ToolCall): JsonObject => ({
  id,
  type,
  function: { name, arguments: text },
});
