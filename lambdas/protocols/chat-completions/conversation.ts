import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { partsOf } from '../../core/json-scan.ts';
import type {
  AnswerFormat,
  ContentPart,
  Conversation,
  ImageDetail,
  PromptSize,
  ToolChoice,
  Turn,
} from '../../core/text/conversation.ts';
import { BODY_PARTS_MAX, TOOL_VALUES_MAX } from '../../limits.ts';
import type { Alternatives } from '../alternatives.ts';
import { thinksByName } from '../chat-fields.ts';
import { inlineImageCharacters, inlineTypeOf, isInline, platformHostOf } from '../image-url.ts';
import type { ChatBody, ChatMessage, ToolCall } from './body.ts';

/** Limit for an inline video (CHAT-7). */
const VIDEO_CHARACTERS_MAX = 20_000_000;

/** Image or video that an image part refers to. */
export interface ChatMedia {
  readonly url: string;
  readonly detail: ImageDetail;
  readonly param: string;
}

/** All images and videos of a conversation, with their place in the body. */
export const mediaOf = (messages: readonly ChatMessage[]): ChatMedia[] => {
  const found: ChatMedia[] = [];
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [part, value] of content.entries()) {
      if (value.type !== 'image_url') continue;
      const { url, detail = 'auto' } = value.image_url;
      found.push({ url, detail, param: `messages[${index}].content[${part}].image_url.url` });
    }
  }
  return found;
};

/** Whether the URL is a data URI of a video, or a link to a platform whose videos the model's provider opens. */
export const isVideo = (url: string, { videoLinkHosts }: TextModel): boolean =>
  inlineTypeOf(url)?.startsWith('video/') ?? videoLinkHosts.includes(platformHostOf(url) ?? '');

export interface MediaSize extends Pick<PromptSize, 'images' | 'recordings'> {
  /** Inline content that is not text, in the order of the body. */
  readonly inline: readonly string[];
}

/** Checks every image and video against the model, and measures them for the estimate (CHAT-6, CHAT-7). */
export const measureMedia = (media: readonly ChatMedia[], model: TextModel, alternatives: Alternatives): MediaSize => {
  const videos = media.filter(({ url }) => isVideo(url, model));
  const images = media.filter(({ url }) => !isVideo(url, model));
  for (const video of videos) checkVideo(video, model, alternatives);
  for (const image of images) checkImage(image, model, alternatives);
  return {
    images: images.map(({ detail }) => detail),
    recordings: videos.length,
    inline: media.map(({ url }) => url).filter(isInline),
  };
};

const checkVideo = ({ url, param }: ChatMedia, model: TextModel, alternatives: Alternatives): void => {
  if (!model.inputTypes.includes('video')) throw refuseVideo(param, model, alternatives);
  if (!isInline(url) || url.length <= VIDEO_CHARACTERS_MAX) return;
  throw invalidRequest(
    param,
    `${param}: a video can have at most ${VIDEO_CHARACTERS_MAX} characters as a data URI. Send a smaller video.`,
  );
};

const refuseVideo = (param: string, { id }: TextModel, alternatives: Alternatives): GatewayError => {
  const others = alternatives(({ inputTypes }) => inputTypes.includes('video'));
  return invalidRequest(param, `${param}: "${id}" does not accept videos.${others}`);
};

const checkImage = ({ url, param }: ChatMedia, model: TextModel, alternatives: Alternatives): void => {
  refuseVideoLink(url, param, model, alternatives);
  if (!model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(param, `${param}: "${model.id}" does not accept images.${others}`);
  }
  inlineImageCharacters(url, param);
};

const refuseVideoLink = (url: string, param: string, model: TextModel, alternatives: Alternatives): void => {
  const link = isInline(url) ? null : URL.parse(url);
  if (!link) return;
  if (link.pathname.toLowerCase().endsWith('.mp4')) {
    const advice = 'Send the video as a base64 data URI or as a link to a video platform.';
    throw invalidRequest(param, `${param}: a link to a video file is not supported. ${advice}`);
  }
  const opened = alternatives(({ videoLinkHosts }) => videoLinkHosts.includes(link.hostname));
  if (opened !== '') throw refuseVideo(param, model, alternatives);
};

type Part = Extract<ChatMessage, { role: 'assistant' }>['content'];
export type Said = Exclude<
  Extract<Part, readonly unknown[]>[number],
  { type: 'thinking' | 'reasoning' | 'redacted_thinking' }
>;

/** Parts that an assistant said, without its thoughts. */
export const saidIn = (parts: Extract<Part, readonly unknown[]>): readonly Said[] =>
  parts.filter((part) => part.type === 'text' || part.type === 'refusal');

/**
 * Body for a provider of the same protocol. `extras` are fields that only the catalog entry of the model knows, as the
 * client sent them.
 */
export const toSend = (body: ChatBody, extras: JsonObject): JsonObject => {
  const { messages, tools, stream_options: options, ...rest } = body;
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null && value !== undefined) kept[name] = value;
  }
  return {
    ...kept,
    messages: imagesAfterResults(messages).map(toMessage),
    // Without a stream the field is ignored (CHAT-1).
    ...(body.stream && options ? { stream_options: options } : {}),
    ...(tools?.length ? { tools } : {}),
    ...extras,
  };
};

type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;
type ToolPart = Exclude<ToolMessage['content'], string>[number];
type ToolImage = Extract<ToolPart, { type: 'image_url' }>;

const isImage = (part: ToolPart): part is ToolImage => part.type === 'image_url';

/** Text of a result that has only images, because the provider's tool messages need one. */
const IMAGES_FOLLOW = 'The images follow in a user message.';

/**
 * Moves the images of tool results into a user message after these results. The provider rejects images in tool
 * messages (https://github.com/OpenHands/OpenHands/issues/7700, 2025-04), or its model does not see them
 * (https://github.com/openai/openai-openapi/issues/523, 2026-02).
 */
const imagesAfterResults = (messages: readonly ChatMessage[]): readonly ChatMessage[] => {
  const sent: ChatMessage[] = [];
  let moved: Extract<UserMessage['content'], readonly unknown[]>[number][] = [];
  for (const message of messages) {
    if (message.role !== 'tool' && moved.length > 0) {
      sent.push({ role: 'user', content: moved });
      moved = [];
    }
    const images =
      message.role === 'tool' && typeof message.content !== 'string' ? message.content.filter(isImage) : [];
    if (message.role !== 'tool' || typeof message.content === 'string' || images.length === 0) {
      sent.push(message);
      continue;
    }
    const texts = message.content.filter((part) => !isImage(part));
    sent.push({ ...message, content: texts.length > 0 ? texts : IMAGES_FOLLOW });
    moved.push({ type: 'text', text: `Images of the tool result ${message.tool_call_id}:` }, ...images);
  }
  return moved.length > 0 ? [...sent, { role: 'user', content: moved }] : sent;
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

/** Fields that some providers with other protocols also have. `chat-fields.ts` defines which. */
const shared = [
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
  'verbosity',
  'presence_penalty',
  'frequency_penalty',
] as const;

/** `body` has only the fields that the model and its provider accept. */
export const toConversation = (body: ChatBody, model: TextModel): Conversation => ({
  turns: toTurns(body, model),
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
  thinking: thinksByName(body, model),
  endUser: body.user ?? undefined,
  extras: Object.fromEntries(shared.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))),
});

const toTurns = ({ messages }: ChatBody, model: TextModel): readonly Turn[] => {
  const turns = messages.map((message, index) => toTurn(message, `messages[${index}]`, model));
  refuseManyValues(turns);
  return turns;
};

/**
 * Arguments and results of tools are JSON in strings, so the limit of the body does not count them (CHAT-5). Other
 * protocols have them as values. To parse millions of values blocks all other requests for seconds.
 */
const refuseManyValues = (turns: readonly Turn[]): void => {
  let left = TOOL_VALUES_MAX;
  for (const turn of turns) {
    for (const [place, text] of toolTextsOf(turn)) {
      if (!text.trimStart().startsWith('{')) continue;
      const { parts, items } = partsOf(Buffer.from(text), BODY_PARTS_MAX);
      const param = `${turn.param}.${place}`;
      if (parts > BODY_PARTS_MAX)
        throw tooManyValues(param, `has more than ${BODY_PARTS_MAX} objects, arrays and member names`);
      left -= parts + items;
      if (left < 0)
        throw tooManyValues(
          param,
          `the arguments and results of tools have more than ${TOOL_VALUES_MAX} JSON values together`,
        );
    }
  }
};

const tooManyValues = (param: string, problem: string): GatewayError =>
  new GatewayError('invalid_messages', `${param}: ${problem}. Send fewer.`, { param });

const toolTextsOf = (turn: Turn): readonly (readonly [place: string, text: string])[] => {
  if (turn.role === 'tool') return [['content', turn.text]];
  if (turn.role !== 'assistant') return [];
  return turn.toolCalls.map((call, index) => [`tool_calls[${index}].function.arguments`, call.arguments]);
};

const toTurn = (message: ChatMessage, param: string, model: TextModel): Turn => {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: textOf(message.content), param };
    case 'tool':
      return toResult(message, param, model);
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

const toResult = (message: ToolMessage, param: string, model: TextModel): Turn => {
  const { tool_call_id: callId, content } = message;
  const texts = typeof content === 'string' ? content : content.filter((part) => part.type === 'text');
  const isMixed = typeof content !== 'string' && content.some(isImage);
  return {
    role: 'tool',
    callId,
    text: textOf(texts),
    content: isMixed ? contentOf(message, param, model) : undefined,
    param,
  };
};

const spokenIn = ({ content, refusal }: Extract<ChatMessage, { role: 'assistant' }>): string =>
  textOf(Array.isArray(content) ? saidIn(content) : content) || (refusal ?? '');

const textOf = (content: string | readonly Said[] | null | undefined): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal)).join('\n');

type UserMessage = Extract<ChatMessage, { role: 'user' }>;

const contentOf = ({ content }: UserMessage | ToolMessage, param: string, model: TextModel): readonly ContentPart[] => {
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
