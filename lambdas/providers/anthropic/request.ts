import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { JsonObject } from '../../core/json.ts';
import { dialogueOf, isBlank, isSaid } from '../../core/text/blank-turns.ts';
import {
  type AnswerFormat,
  type ContentPart,
  type Conversation,
  type ImagePart,
  JSON_INSTRUCTION,
  schemaAlone,
  type ToolCall,
  type ToolChoice,
  type ToolDefinition,
  type Turn,
} from '../../core/text/conversation.ts';
import { nearestEffort } from '../../core/text/nearest-effort.ts';
import type { FetchedImage, WireCall } from '../../core/text/text-wire.ts';
import { argumentsObject } from '../read-json.ts';
import type { ToParam } from './errors.ts';

/** Conversation in the provider's terms. */
interface TranslatedRequest {
  /** Images whose bytes the gateway must send. */
  readonly remoteImages: readonly ImagePart[];
  readonly toParam: ToParam;
  /** Smallest output limit with room for thinking. */
  readonly outputTokensMin: number | undefined;
  toBody(outputTokensMax: number, sources: ReadonlyMap<string, JsonObject>): JsonObject;
}

/**
 * https://platform.claude.com/docs/en/api/messages/create. Throws the 400 for content that this API does not support.
 */
export const translate = (
  conversation: Conversation,
  { model, request: { stream }, upstream }: Pick<WireCall, 'model' | 'request' | 'upstream'>,
): TranslatedRequest => {
  const settings = toSettings(conversation, model);
  const turns = withInstruction(toVendorTurns(conversation.turns, model.id), conversation.format);
  const thinking = thinkingFor(conversation, model);
  return {
    outputTokensMin: conversation.thinking && !model.thinking?.adaptive ? BUDGET_MIN + 1 : undefined,
    remoteImages: turns.messages.flatMap(blocksOf).flatMap(fetchedIn),
    toParam: chatParams(turns.messages.map((message) => blocksOf(message).map(({ param }) => param))),
    toBody: (cap, sources) => toBody({ model: upstream.model, cap, stream, settings, turns, thinking, sources }),
  };
};

interface BodyParts {
  readonly model: string;
  readonly cap: number;
  readonly stream: boolean;
  readonly settings: JsonObject;
  readonly turns: VendorTurns;
  readonly thinking: Thinking;
  readonly sources: ReadonlyMap<string, JsonObject>;
}

const toBody = ({ model, cap, stream, settings, turns, thinking, sources }: BodyParts): JsonObject => ({
  model,
  max_tokens: cap,
  ...(turns.system === undefined ? {} : { system: turns.system }),
  messages: turns.messages.map((message) => ({
    role: message.role,
    content: blocksOf(message).map((block) => filled(block, sources)),
  })),
  ...settings,
  ...thinking(cap),
  ...(stream ? { stream } : {}),
});

/** Adds the instruction at the end, so that the cached start of the prompt does not change. */
const withInstruction = (turns: VendorTurns, format: AnswerFormat | undefined): VendorTurns =>
  format?.kind === 'json_object'
    ? { ...turns, system: turns.system === undefined ? JSON_INSTRUCTION : `${turns.system}\n\n${JSON_INSTRUCTION}` }
    : turns;

const toSettings = (conversation: Conversation, { id: modelId, reasoning }: TextModel): JsonObject => {
  const { tools, temperature, topP, stop, format, endUser } = conversation;
  const effort = conversation.effort && nearestEffort(conversation.effort, reasoning?.accepted ?? []);
  // github.com/BerriAI/litellm/issues/3286
  if (stop.some((sequence) => sequence.trim() === ''))
    throw invalidRequest('stop', `stop: with "${modelId}" each sequence must have a character other than a blank.`);
  const outputConfig = { ...(effort === undefined ? {} : { effort }), ...toFormat(format) };
  return {
    ...(tools.length > 0 ? { tools: tools.map(toTool), ...toToolChoice(conversation) } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...(endUser === undefined ? {} : { metadata: { user_id: endUser } }),
  };
};

/** The provider requires the type. Arguments of a function are always an object. */
const toTool = ({ name, description, parameters, strict }: ToolDefinition): JsonObject => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: { type: 'object', ...parameters },
  ...(strict === undefined ? {} : { strict }),
});

/** Puts `disable_parallel_tool_use` into the tool choice. The choice `none` does not support this member. */
const toToolChoice = ({ toolChoice, parallelToolCalls }: Conversation): JsonObject => {
  const single = parallelToolCalls === false;
  if (toolChoice === undefined && !single) return {};
  const choice = toChoice(toolChoice ?? 'auto');
  return {
    tool_choice: { ...choice, ...(single && toolChoice !== 'none' ? { disable_parallel_tool_use: true } : {}) },
  };
};

const toChoice = (choice: ToolChoice): JsonObject => {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
};

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs: this provider is always strict. */
const toFormat = (format: AnswerFormat | undefined): JsonObject => {
  if (format?.kind !== 'json_schema') return {};
  return { format: { type: 'json_schema', schema: schemaAlone(format) } };
};

type TurnOf<Role extends Turn['role']> = Extract<Turn, { readonly role: Role }>;

/** One content block and its place in the client's body. */
interface Block {
  readonly value: JsonObject;
  readonly param: string;
  /** Image whose source is filled in later. */
  readonly fetched?: ImagePart;
  /** Content of a result with images. */
  readonly inner?: readonly Block[];
}

const fetchedIn = ({ fetched, inner = [] }: Block): readonly ImagePart[] =>
  fetched ? [fetched] : inner.flatMap(fetchedIn);

const filled = ({ value, fetched, inner }: Block, sources: BodyParts['sources']): JsonObject => ({
  ...value,
  ...(fetched && { source: sources.get(fetched.url) }),
  ...(inner && { content: inner.map((block) => filled(block, sources)) }),
});

interface Message {
  readonly role: 'user' | 'assistant';
  /** Results of the preceding calls. They come first, whatever their order among the client's turns. */
  readonly results: Block[];
  readonly content: Block[];
}

interface VendorTurns {
  /** Instructions of all system turns. Undefined if there are none. */
  readonly system: string | undefined;
  readonly messages: readonly Message[];
}

const blocksOf = ({ results, content }: Message): readonly Block[] => [...results, ...content];

/**
 * Converts turns to the provider's form: consecutive turns of a role become one message, and blank turns are dropped. All
 * instructions come before the messages, as in the provider's compatibility layer for OpenAI's SDK:
 * https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk
 */
export const toVendorTurns = (turns: readonly Turn[], modelId: string): VendorTurns => {
  const said = withoutTrailingBlanks(dialogueOf(turns));
  const instructions = said.flatMap((turn) => (turn.role === 'system' ? turn.text : []));
  const messages = new Messages();
  for (const turn of said) messages.add(turn, modelId);
  if (messages.list.length === 0)
    throw invalidMessages('messages', 'needs at least one message besides the instructions.');
  return { system: instructions.length > 0 ? instructions.join('\n') : undefined, messages: messages.list };
};

/** The provider rejects an assistant turn to continue that ends blank: https://github.com/tailcallhq/forgecode/issues/1872 */
const withoutTrailingBlanks = (turns: readonly Turn[]): readonly Turn[] => {
  const at = turns.findLastIndex(({ role }) => role !== 'system');
  const last = turns[at];
  return last?.role === 'assistant' ? turns.with(at, { ...last, text: last.text.trimEnd() }) : turns;
};

class Messages {
  readonly list: Message[] = [];
  /** Call ids of the latest assistant message. Only the next message can have their results. */
  #calls = new Set<string>();

  add(turn: Turn, modelId: string): void {
    switch (turn.role) {
      case 'system':
        return;
      case 'tool':
        if (!this.#calls.has(turn.callId)) throw withoutCall(turn);
        this.#last('user').results.push(toResult(turn, modelId));
        return;
      case 'user':
        this.#last('user').content.push(...toUserBlocks(turn, modelId));
        return;
      case 'assistant': {
        this.#last('assistant').content.push(...toAssistantBlocks(turn));
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
  invalidMessages(`${param}.tool_call_id`, 'the preceding assistant message has no call with this id.');

const toResult = ({ callId, text, content, param }: TurnOf<'tool'>, modelId: string): Block => {
  const value = { type: 'tool_result', tool_use_id: callId };
  if (!content) return { value: { ...value, ...(isBlank(text) ? {} : { content: text }) }, param };
  return { value, param, inner: content.filter(isSaid).map((part) => toPartBlock(part, param, modelId)) };
};

const textBlock = (text: string, param: string): Block => ({ value: { type: 'text', text }, param });

const toUserBlocks = ({ content, param }: TurnOf<'user'>, modelId: string): readonly Block[] => {
  // The provider rejects blank text, even together with other parts (github.com/home-assistant/core/issues/175637).
  const said = [...content.entries()].filter(([, part]) => isSaid(part));
  // A single part may come from a plain string, which has no index in the client's body.
  const place = (index: number): string => (content.length === 1 ? `${param}.content` : `${param}.content[${index}]`);
  return said.map(([index, part]) => toPartBlock(part, place(index), modelId));
};

const toPartBlock = (part: ContentPart, param: string, modelId: string): Block => {
  if (part.kind === 'text') return textBlock(part.text, param);
  if (part.kind === 'video') throw invalidRequest(part.param, `${part.param}: "${modelId}" does not accept videos.`);
  const source = imageSource(part);
  if (!source) return { value: { type: 'image' }, param: part.param, fetched: part };
  return { value: { type: 'image', source }, param: part.param };
};

const toAssistantBlocks = ({ text, toolCalls, param }: TurnOf<'assistant'>): readonly Block[] => {
  const calls = toolCalls.map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`));
  return isBlank(text) ? calls : [textBlock(text, `${param}.content`), ...calls];
};

const toToolUse = ({ id, name, arguments: text }: ToolCall, param: string): Block => ({
  value: { type: 'tool_use', id, name, input: argumentsObject(text) },
  param,
});

/** Number of Base64 characters at the start that are enough to detect the image type. */
const START = 24;

const HEAD_MAX = 512;

/**
 * https://platform.claude.com/docs/en/build-with-claude/vision. Undefined if the gateway must fetch the bytes, because
 * the provider opens only https URLs (github.com/BrokkAi/brokk-app/issues/2269).
 */
const imageSource = ({ url, param }: ImagePart): JsonObject | undefined => {
  if (/^https:/i.test(url)) return { type: 'url', url };
  if (/^http:/i.test(url)) return undefined;
  const comma = url.slice(0, HEAD_MAX).indexOf(',');
  const data = url.slice(comma + 1);
  // The type comes from the bytes, because the provider rejects an image with a wrong declared type
  // (github.com/BerriAI/litellm/issues/24900).
  const type = sniffImage(Buffer.from(data.slice(0, START), 'base64'));
  if (!type) {
    throw new GatewayError('invalid_image_format', `${param}: must be a PNG, JPEG or WebP image.`, { param });
  }
  return { type: 'base64', media_type: type, data };
};

/** Source of an image that the gateway fetched for the provider. */
export const fetchedSource = ({ mediaType, bytes }: FetchedImage): JsonObject => ({
  type: 'base64',
  media_type: mediaType,
  data: bytes.toString('base64'),
});

const named = new Map<string, ToParam>([
  ['max_tokens', () => 'max_tokens'],
  ['metadata', () => 'user'],
  [
    'output_config',
    ({ member }) => {
      if (member === 'format') return 'response_format';
      return member === 'effort' ? 'output_config.effort' : undefined;
    },
  ],
  ['stop_sequences', () => 'stop'],
  ['temperature', () => 'temperature'],
  ['tool_choice', () => 'tool_choice'],
  ['tools', ({ index }) => (index === undefined ? 'tools' : `tools[${index}]`)],
  ['top_p', () => 'top_p'],
]);

/**
 * Maps the provider's fields to those of a chat client. `places` has the place of each block of each message in the
 * client's body. Instructions and thinking have no name, because they are combined from several places.
 */
export const chatParams =
  (places: readonly (readonly string[])[]): ToParam =>
  (path) => {
    const { field, index, block } = path;
    if (field !== 'messages') return named.get(field)?.(path);
    return index === undefined ? 'messages' : places[index]?.[block ?? 0];
  };

/**
 * Smallest budget that the provider accepts: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
const BUDGET_MIN = 1_024;

/** Returns the `thinking` field for a cap, because the budget is a part of the cap. */
type Thinking = (outputTokensMax: number) => JsonObject;

/** Effort levels of OpenAI below the provider's lowest. */
const offSteps: readonly (string | undefined)[] = ['none', 'minimal'];

/** Returns the thinking for clients of another protocol (MSG-3). */
const thinkingFor = (
  { thinking: wanted, turns, effort }: Pick<Conversation, 'thinking' | 'turns' | 'effort'>,
  model: TextModel,
): Thinking => {
  if (!wanted) {
    const isOff = offSteps.includes(effort) && model.thinking?.canDisable;
    return () => (isOff ? { thinking: { type: 'disabled' } } : {});
  }
  refuseResults(turns, model);
  if (model.thinking?.adaptive) return () => ({ thinking: { type: 'adaptive', display: 'summarized' } });
  return (cap) => ({ thinking: { type: 'enabled', budget_tokens: Math.max(BUDGET_MIN, Math.floor(cap / 2)) } });
};

/** Models with a budget require the thinking that led to a call, and only the provider's own format can carry it. */
const refuseResults = (turns: Conversation['turns'], { id, thinking }: TextModel): void => {
  if (thinking?.adaptive || !turns.some(({ role }) => role === 'tool')) return;
  const advice = `Use "${id}" for tools, or /v1/messages.`;
  throw invalidRequest('model', `model: with thinking, "${id}" does not accept tool results here. ${advice}`);
};
