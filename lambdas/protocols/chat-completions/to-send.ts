import type { JsonObject } from '../../core/json.ts';
import type { ChatBody } from './body.ts';
import { answerOnlyFields } from './messages.ts';

/** Fields that only a model's entry knows, as the client sent them. */
export type Extras = readonly (readonly [name: string, value: JsonObject[string]])[];

/** The body a vendor of the same protocol gets: without nulls, without `cache_control` (BILL-18) and without the fields named. */
export const toSend = (body: ChatBody, extras: Extras, unsent: ReadonlySet<string>): JsonObject => {
  const { messages, tools, stream_options: options, ...rest } = body;
  const kept = Object.entries(rest).filter(
    ([name, value]) => value !== null && value !== undefined && !unsent.has(name),
  );
  return {
    ...Object.fromEntries(kept),
    messages: messages.map(({ content, ...message }) => ({
      ...bare(message),
      ...(content === undefined ? {} : { content: Array.isArray(content) ? content.map(bare) : content }),
    })),
    // Ignored without a stream (CHAT-1).
    ...(body.stream && options ? { stream_options: options } : {}),
    ...(tools ? { tools: tools.map(bare) } : {}),
    ...Object.fromEntries(extras),
  };
};

const bare = (value: object): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'cache_control' && !answerOnlyFields.has(name)));
