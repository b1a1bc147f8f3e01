import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type AnswerFormat,
  type Conversation,
  type ImagePart,
  JSON_INSTRUCTION,
  schemaAlone,
  type ToolChoice,
  type ToolDefinition,
} from '../../core/text/conversation.ts';
import type { WireCall } from '../../core/text/text-wire.ts';
import { chatParams } from './chat-params.ts';
import { lowestIfOff, type Thinking, thinkingFor } from './thinking.ts';
import { blocksOf, toVendorTurns, type VendorTurns } from './turns.ts';
import type { ToParam } from './vendor-path.ts';

/** A conversation that the vendor can be asked with. */
export interface TranslatedRequest {
  /** Images whose bytes have to be sent along. */
  readonly remoteImages: readonly ImagePart[];
  readonly toParam: ToParam;
  /** Throws the 400 for a cap that leaves no room for thinking. */
  toBody(outputTokensMax: number, sources: ReadonlyMap<string, JsonObject>): JsonObject;
}

/** https://platform.claude.com/docs/en/api/messages/create. Throws the 400 for what has no place there. */
export const translate = (
  conversation: Conversation,
  { model, request, upstream }: Pick<WireCall, 'model' | 'request' | 'upstream'>,
): TranslatedRequest => {
  const { stream, outputTokensMax: ownCap } = request;
  const settings = toSettings(conversation, model);
  const turns = withInstruction(toVendorTurns(conversation.turns, model.id), conversation.format);
  const thinking = thinkingFor(conversation, model, ownCap);
  return {
    remoteImages: turns.messages.flatMap(blocksOf).flatMap(({ fetched }) => fetched ?? []),
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
    content: blocksOf(message).map(({ value, fetched }) =>
      fetched ? { ...value, source: sources.get(fetched.url) } : value,
    ),
  })),
  ...settings,
  ...thinking(cap),
  ...(stream ? { stream } : {}),
});

/** At the end, where it does not change the beginning that a cache is found by. */
const withInstruction = (turns: VendorTurns, format: AnswerFormat | undefined): VendorTurns =>
  format?.kind === 'json_object'
    ? { ...turns, system: turns.system === undefined ? JSON_INSTRUCTION : `${turns.system}\n\n${JSON_INSTRUCTION}` }
    : turns;

const toSettings = (conversation: Conversation, { id: modelId }: TextModel): JsonObject => {
  const { tools, temperature, topP, stop, format, endUser } = conversation;
  const effort = lowestIfOff(conversation.effort);
  // github.com/BerriAI/litellm/issues/3286
  if (stop.some((sequence) => sequence.trim() === ''))
    throw invalidRequest('stop', `stop: with "${modelId}" each sequence must have a character that is no blank.`);
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

/** The vendor wants the type named; a function's arguments are an object in any case. */
const toTool = ({ name, description, parameters, strict }: ToolDefinition): JsonObject => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: { type: 'object', ...parameters },
  ...(strict === undefined ? {} : { strict }),
});

/** Only one call at a time is a member of the choice; a choice of none has no place for it, and no calls. */
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

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs: always strict. */
const toFormat = (format: AnswerFormat | undefined): JsonObject => {
  if (format?.kind !== 'json_schema') return {};
  return { format: { type: 'json_schema', schema: schemaAlone(format) } };
};
