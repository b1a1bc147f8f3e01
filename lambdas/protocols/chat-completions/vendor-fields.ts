import type { Wire } from '../../core/catalog/providers.ts';
import { chat, chatFields, claude } from '../chat-fields.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { type Entry, withoutUnsupported } from '../optional-fields.ts';
import type { ChatBody } from './body.ts';
import { closedSchema } from './closed-schema.ts';

/** The body without what the model or its vendor does not take. Throws the 400 for what the caller relies on. */
export const forVendor = (body: ChatBody, wire: Wire, entry: Entry): ChatBody => {
  const unsent = withoutUnsupported(chatFields, body, { ...entry, wire });
  const kept = { ...body, ...Object.fromEntries([...unsent].map((field) => [field, undefined])) };
  if (chat.includes(wire)) return kept;
  return {
    ...kept,
    messages: body.messages.map((message) => forForeignVendor(message, entry.ignored)),
    ...(kept.response_format && { response_format: formatFor(kept.response_format, wire, entry.ignored) }),
  };
};

type Message = ChatBody['messages'][number];
type Format = NonNullable<ChatBody['response_format']>;

/** The name of a person and how closely to look at an image have no place elsewhere. */
const forForeignVendor = (message: Message, ignored: IgnoredFields): Message => {
  if (message.role === 'tool') return message;
  if (message.name !== undefined) ignored.add(['messages', 0, 'name']);
  if (message.role !== 'user' || typeof message.content === 'string') return { ...message, name: undefined };
  const content = message.content.map((part) => {
    if (part.type !== 'image_url') return part;
    const { url, detail } = part.image_url;
    if (detail === 'low' || detail === 'original') ignored.add(['messages', 0, 'content', 0, 'image_url', 'detail']);
    return { ...part, image_url: { url } };
  });
  return { ...message, name: undefined, content };
};

/** Claude and Gemini take a schema and nothing beside it. Claude takes closed objects only. */
const formatFor = (format: Format, wire: Wire, ignored: IgnoredFields): Format => {
  if (format.type !== 'json_schema' || wire === 'openai_responses') return format;
  const { description, schema, ...rest } = format.json_schema;
  if (description !== undefined) ignored.add(['response_format', 'json_schema', 'description']);
  const isOpen = claude.includes(wire) && !rest.strict;
  return { ...format, json_schema: { ...rest, schema: schema && isOpen ? closedSchema(schema) : schema } };
};
