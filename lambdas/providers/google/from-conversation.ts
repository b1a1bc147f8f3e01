import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type AnswerFormat,
  type Conversation,
  schemaAlone,
  type ToolChoice,
  type ToolDefinition,
} from '../../core/text/conversation.ts';
import type { ImageSlot } from './media.ts';
import { drawnModalities } from './request.ts';
import { toContents } from './turns.ts';

/** Extras with a place in `generationConfig`. */
const placed: Readonly<Record<string, string>> = {
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
};

export interface Translated {
  /** Complete once the slots are filled. */
  readonly body: JsonObject;
  readonly slots: readonly ImageSlot[];
}

/** https://ai.google.dev/api/generate-content. Throws the 400 for what has no place there (CHAT-16). */
export const fromConversation = (conversation: Conversation, modelId: string, draws = false): Translated => {
  const { tools, toolChoice, turns } = conversation;
  const system = turns.flatMap((turn) => (turn.role === 'system' ? [{ text: turn.text }] : []));
  const { contents, slots } = toContents(turns);
  if (contents.length === 0) {
    const message = `messages: "${modelId}" needs a message that is no system message.`;
    throw new GatewayError('invalid_messages', message, { param: 'messages' });
  }
  const toolConfig = toToolConfig(toolChoice, tools);
  const body = {
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...(tools.length > 0 ? { tools: [{ functionDeclarations: tools.map(toDeclaration) }] } : {}),
    ...(toolConfig ? { toolConfig } : {}),
    generationConfig: {
      ...toGenerationConfig(conversation),
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

/** A call that has to keep to its schema (`strict`) is what this vendor calls validated; a forced one always does. */
const toToolConfig = (choice: ToolChoice | undefined, tools: readonly ToolDefinition[]): JsonObject | undefined => {
  const config = (mode: string, more: JsonObject = {}): JsonObject => ({ functionCallingConfig: { mode, ...more } });
  if (typeof choice === 'object') return config('ANY', { allowedFunctionNames: [choice.name] });
  if (choice === 'required') return config('ANY');
  if (choice === 'none') return config('NONE');
  if (tools.some(({ strict }) => strict)) return config('VALIDATED');
  return choice && config('AUTO');
};

/** https://ai.google.dev/api/generate-content#generationconfig. The level is never clamped: the vendor refuses (CHAT-9). */
const toGenerationConfig = ({ temperature, topP, stop, seed, effort, format, extras }: Conversation): JsonObject => ({
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP }),
  ...(stop.length > 0 ? { stopSequences: stop } : {}),
  ...(seed === undefined ? {} : { seed }),
  ...(effort === undefined ? {} : { thinkingConfig: { thinkingLevel: effort.toUpperCase() } }),
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
