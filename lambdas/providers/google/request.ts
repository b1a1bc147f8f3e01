import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { dialogueOf, isBlank, isSaid } from '../../core/text/blank-turns.ts';
import {
  type AnswerFormat,
  type Conversation,
  type ImagePart,
  schemaAlone,
  type ToolCall,
  type ToolChoice,
  type ToolDefinition,
  type Turn,
  type VideoPart,
} from '../../core/text/conversation.ts';
import { nearestEffort } from '../../core/text/nearest-effort.ts';
import type { FetchedImage } from '../../core/text/text-wire.ts';
import { argumentsObject, exactObject } from '../read-json.ts';
import { isVendorsId } from './response.ts';

/** Path below the provider's base URL. Streams always use events, because without `alt` they are one growing list. */
export const generatePath = (model: string, streamed: boolean): string =>
  `/v1beta/models/${model}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;

/** Client's body with the cap of the hold (BILL-6). The path has the model. */
export const toNativeBody = (body: JsonObject, outputTokensMax: number): JsonObject => ({
  ...body,
  generationConfig: {
    ...(isJsonObject(body.generationConfig) ? body.generationConfig : {}),
    maxOutputTokens: outputTokensMax,
  },
});

/**
 * Modalities for image models, because some return no image without text.
 * https://ai.google.dev/gemini-api/docs/image-generation
 */
export const drawnModalities: readonly string[] = ['TEXT', 'IMAGE'];

/** Extras that are members of `generationConfig`. */
const placed: Readonly<Record<string, string>> = {
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
};

interface Translated {
  /** Complete after the slots are filled. */
  readonly body: JsonObject;
  readonly slots: readonly ImageSlot[];
}

interface TranslationOptions {
  /** Whether the model generates images. */
  readonly draws?: boolean;
  /** Whether results of functions can have images. */
  readonly nestsMedia?: boolean;
}

/**
 * Whether the model accepts images in the results of functions: Gemini 3 and later. Earlier ones reject them:
 * https://github.com/maximhq/bifrost/pull/4202 (2026-06)
 */
export const nestsMedia = (upstreamModel: string): boolean => !/^gemini-[12]\D/.test(upstreamModel);

/** https://ai.google.dev/api/generate-content. Throws the 400 for content that this API does not support (CHAT-16). */
export const fromConversation = (
  conversation: Conversation,
  { id: modelId, reasoning }: Pick<TextModel, 'id' | 'reasoning'>,
  { draws = false, nestsMedia = true }: TranslationOptions = {},
): Translated => {
  const { tools, toolChoice } = conversation;
  const turns = dialogueOf(conversation.turns);
  const system = turns.flatMap((turn) => (turn.role === 'system' ? [{ text: turn.text }] : []));
  const { contents, slots } = toContents(turns, nestsMedia);
  if (contents.length === 0) {
    const message = `messages: "${modelId}" needs a message other than a system message.`;
    throw new GatewayError('invalid_messages', message, { param: 'messages' });
  }
  const toolConfig = toToolConfig(toolChoice, tools);
  const body = {
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...(tools.length > 0 ? { tools: [{ functionDeclarations: tools.map(toDeclaration) }] } : {}),
    ...(toolConfig ? { toolConfig } : {}),
    generationConfig: {
      ...toGenerationConfig(conversation, reasoning?.accepted ?? []),
      ...(draws && { responseModalities: drawnModalities }),
    },
  };
  return { body, slots };
};

const toDeclaration = ({ name, description, parameters }: ToolDefinition): JsonObject => ({
  name,
  ...(description === undefined ? {} : { description }),
  ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
});

/**
 * Converts the tool choice to the provider's terms. The mode `VALIDATED` makes calls match their schema (`strict`). A
 * forced call always matches its schema.
 */
const toToolConfig = (choice: ToolChoice | undefined, tools: readonly ToolDefinition[]): JsonObject | undefined => {
  const config = (mode: string, more: JsonObject = {}): JsonObject => ({ functionCallingConfig: { mode, ...more } });
  if (typeof choice === 'object') return config('ANY', { allowedFunctionNames: [choice.name] });
  if (choice === 'required') return config('ANY');
  if (choice === 'none') return config('NONE');
  if (tools.some(({ strict }) => strict)) return config('VALIDATED');
  return choice && config('AUTO');
};

/**
 * https://ai.google.dev/api/generate-content#generationconfig. The provider rejects a level that the model lacks:
 * https://github.com/fishjar/kiss-translator/pull/1051 (2026-08)
 */
const toGenerationConfig = (
  { temperature, topP, stop, seed, effort, format, extras }: Conversation,
  levels: readonly string[],
): JsonObject => ({
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP }),
  ...(stop.length > 0 ? { stopSequences: stop } : {}),
  ...(seed === undefined ? {} : { seed }),
  ...(effort === undefined ? {} : { thinkingConfig: { thinkingLevel: nearestEffort(effort, levels).toUpperCase() } }),
  ...toFormat(format),
  ...Object.fromEntries(
    Object.entries(placed).flatMap(([ours, theirs]) => (ours in extras ? [[theirs, extras[ours]]] : [])),
  ),
});

const toFormat = (format: AnswerFormat | undefined): JsonObject => {
  if (!format) return {};
  const schema = format.kind === 'json_schema' ? schemaAlone(format) : undefined;
  return { responseMimeType: 'application/json', ...(schema ? { responseJsonSchema: schema } : {}) };
};

/**
 * Value for a signature that the client does not have. The provider rejects calls without the signature of the thoughts
 * before them. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

type Kind = 'user' | 'assistant' | 'tool';

interface Content {
  readonly kind: Kind;
  readonly parts: JsonObject[];
}

interface Contents {
  readonly contents: readonly JsonObject[];
  /** Images whose bytes the gateway must fetch. */
  readonly slots: readonly ImageSlot[];
}

/**
 * Merges consecutive turns of one kind into one content. Results of tools keep their own content, because the provider
 * requires as many of them as the preceding content has calls. Media that they cannot have follow in a content of the
 * user. System turns are sent elsewhere.
 */
const toContents = (turns: readonly Turn[], nests: boolean): Contents => {
  const found: Content[] = [];
  const slots: ImageSlot[] = [];
  const calls = new Map<string, ToolCall>();
  const add = (kind: Kind, parts: JsonObject[]): void => {
    if (parts.length === 0) return;
    const last = found.at(-1);
    if (last?.kind === kind) last.parts.push(...parts);
    else found.push({ kind, parts });
  };
  let beside: (ImagePart | VideoPart)[] = [];
  const addBeside = (): void => {
    add(
      'user',
      beside.map((part) => toMediaPart(part, slots)),
    );
    beside = [];
  };
  for (const turn of turns) {
    if (turn.role === 'system') continue;
    if (turn.role === 'tool') beside.push(...mediaIn(turn).filter((part) => !isNested(part, nests)));
    else addBeside();
    add(turn.role, toParts(turn, { calls, slots, nests }));
  }
  addBeside();
  const contents = found.map(({ kind, parts }) => ({ role: kind === 'assistant' ? 'model' : 'user', parts }));
  return { contents, slots };
};

type ToolTurn = Extract<Turn, { role: 'tool' }>;

const mediaIn = ({ content = [] }: ToolTurn): readonly (ImagePart | VideoPart)[] =>
  content.filter((part) => part.kind !== 'text');

/**
 * Whether a part belongs into the result of its function. Results can have images and PDF documents:
 * https://ai.google.dev/gemini-api/docs/function-calling#multimodal
 */
const isNested = ({ kind }: ImagePart | VideoPart, nests: boolean): boolean => nests && kind === 'image';

interface Place {
  /** Calls without a result so far, by their id. */
  readonly calls: Map<string, ToolCall>;
  readonly slots: ImageSlot[];
  readonly nests: boolean;
}

const toParts = (turn: Exclude<Turn, { role: 'system' }>, place: Place): JsonObject[] => {
  const { calls, slots } = place;
  switch (turn.role) {
    case 'user':
      // The provider rejects an empty text, even together with other parts.
      return turn.content
        .filter(isSaid)
        .map((part) => (part.kind === 'text' ? { text: part.text } : toMediaPart(part, slots)));
    case 'assistant': {
      for (const call of turn.toolCalls) calls.set(call.id, call);
      const text = isBlank(turn.text) ? [] : [{ text: turn.text }];
      return [...text, ...turn.toolCalls.map(toCallPart)];
    }
    case 'tool':
      return [toResponsePart(turn, place)];
  }
};

const toCallPart = ({ id, name, arguments: text, signature }: ToolCall, index: number): JsonObject => {
  // Only the first of parallel calls has a signature.
  const thoughtSignature = signature ?? (index === 0 ? NO_SIGNATURE : undefined);
  return {
    // If 1e20 were written out in full, the prompt would become longer than the one that was paid for.
    functionCall: { ...idMember(id), name, args: argumentsObject(text) },
    ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
  };
};

/**
 * The provider reads a `$ref` anywhere in a response as the name of a part and rejects unknown ones:
 * https://github.com/NousResearch/hermes-agent/issues/93014 (2026-08-23). A text in `result` can contain it.
 */
const hasReference = /"(?:\$|\\u0024)ref"\s*:/;

const toResponsePart = (turn: ToolTurn, { calls, slots, nests }: Place): JsonObject => {
  const { callId, text, param } = turn;
  const call = calls.get(callId);
  if (!call) {
    const place = `${param}.tool_call_id`;
    const message = `${place}: must be the id of a call in a preceding assistant message that has no result yet.`;
    throw new GatewayError('invalid_messages', message, { param: place });
  }
  // Each call has one result, so a second result for the same call is rejected.
  calls.delete(callId);
  const response = (hasReference.test(text) ? undefined : exactObject(text)) ?? { result: text };
  const parts = mediaIn(turn)
    .filter((part) => isNested(part, nests))
    .map((part) => toMediaPart(part, slots));
  return { functionResponse: { ...idMember(callId), name: call.name, response, ...(parts.length > 0 && { parts }) } };
};

/** A call and its response have the same id, or neither has one. https://ai.google.dev/api/caching#FunctionCall */
const idMember = (id: string): JsonObject => (isVendorsId(id) ? { id } : {});

/** Part whose bytes are filled in before the request is sent. */
export interface ImageSlot {
  readonly image: ImagePart;
  readonly fill: (fetched: FetchedImage) => void;
}

const HEAD_CHARACTERS_MAX = 256;

/** Base64 characters that hold at least the first 12 bytes. */
const SNIFFED_CHARACTERS = 24;

const dataUri = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*;base64,/i;

/**
 * https://ai.google.dev/gemini-api/docs/image-understanding, .../video-understanding: the request contains the bytes.
 * The provider opens only links to its own video platform.
 */
const toMediaPart = (part: ImagePart | VideoPart, slots: ImageSlot[]): JsonObject => {
  if (!/^https?:/i.test(part.url)) return toInlinePart(part);
  if (part.kind === 'video') return { fileData: { fileUri: part.url } };
  const filled: Record<string, JsonValue> = {};
  slots.push({
    image: part,
    fill: ({ mediaType, bytes }) => {
      filled.inlineData = { mimeType: mediaType, data: bytes.toString('base64') };
    },
  });
  return filled;
};

/** The type of an image comes from its first bytes, the type of a video from the client. */
const toInlinePart = ({ kind, url, param }: ImagePart | VideoPart): JsonObject => {
  const [head, declared] = dataUri.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined || declared === undefined) {
    throw invalidRequest(param, `${param}: must be an http(s) URL or a base64 data URI.`);
  }
  const data = url.slice(head.length);
  const mimeType =
    kind === 'video' ? declared.toLowerCase() : sniffImage(Buffer.from(data.slice(0, SNIFFED_CHARACTERS), 'base64'));
  if (!mimeType) {
    const message = `${param}: must be a PNG, JPEG or WebP image.`;
    throw new GatewayError('invalid_image_format', message, { param });
  }
  return { inlineData: { mimeType, data } };
};
