import type { TextModel } from '../../core/catalog/schema.ts';
import type { AnswerFormat, ContentPart, Conversation, ToolChoice, Turn } from '../../core/text/conversation.ts';
import type { ChatBody } from './body.ts';
import { isVideo } from './media.ts';
import type { ChatMessage } from './messages.ts';
import { type Said, saidIn } from './to-send.ts';

/** Fields that some vendors of other protocols have, too. `chat-fields.ts` says which. */
const shared = [
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
  'verbosity',
  'presence_penalty',
  'frequency_penalty',
] as const;

/** `body` has only what the model and its vendor take. */
export const toConversation = (body: ChatBody, model: TextModel): Conversation => ({
  turns: body.messages.map((message, index) => toTurn(message, `messages[${index}]`, model)),
  tools: (body.tools ?? []).map(({ function: { name, description, parameters, strict } }) => ({
    name,
    description,
    parameters,
    strict,
  })),
  toolChoice: toToolChoice(body.tool_choice),
  parallelToolCalls: body.parallel_tool_calls ?? undefined,
  format: toFormat(body.response_format),
  temperature: body.temperature ?? undefined,
  topP: body.top_p ?? undefined,
  stop: [body.stop ?? []].flat(),
  seed: body.seed ?? undefined,
  effort: body.reasoning_effort ?? body.output_config?.effort ?? undefined,
  thinking: model.thinking?.suffix !== undefined && body.model === `${model.id}${model.thinking.suffix}`,
  endUser: body.user ?? undefined,
  extras: Object.fromEntries(shared.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))),
});

const toTurn = (message: ChatMessage, param: string, model: TextModel): Turn => {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: textOf(message.content), param };
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, text: textOf(message.content), param };
    case 'user':
      return { role: 'user', content: contentOf(message, param, model), param };
    case 'assistant':
      return {
        role: 'assistant',
        text: spokenIn(message),
        toolCalls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: text }, extra_content }) => ({
          id,
          name,
          arguments: text,
          ...(extra_content?.google?.thought_signature && { signature: extra_content.google.thought_signature }),
        })),
        param,
      };
  }
};

const spokenIn = ({ content, refusal }: Extract<ChatMessage, { role: 'assistant' }>): string =>
  textOf(Array.isArray(content) ? saidIn(content) : content) || (refusal ?? '');

const textOf = (content: string | readonly Said[] | null | undefined): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal)).join('\n');

type UserMessage = Extract<ChatMessage, { role: 'user' }>;

const contentOf = ({ content }: UserMessage, param: string, model: TextModel): readonly ContentPart[] => {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map((part, index) => {
    if (part.type === 'text') return { kind: 'text', text: part.text };
    const { url, detail = 'auto' } = part.image_url;
    const place = `${param}.content[${index}].image_url.url`;
    return isVideo(url, model) ? { kind: 'video', url, param: place } : { kind: 'image', url, detail, param: place };
  });
};

const toToolChoice = (choice: ChatBody['tool_choice']): ToolChoice | undefined =>
  typeof choice === 'object' && choice !== null ? { name: choice.function.name } : (choice ?? undefined);

const toFormat = (format: ChatBody['response_format']): AnswerFormat | undefined => {
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { kind: 'json_object' };
  const { name, description, schema, strict } = format.json_schema;
  return {
    kind: 'json_schema',
    name,
    description,
    schema,
    strict: strict ?? undefined,
  };
};
