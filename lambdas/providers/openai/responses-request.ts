import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { isBlank, isSaid, withoutBlankTurns } from '../../core/text/blank-turns.ts';
import type {
  AnswerFormat,
  ContentPart,
  Conversation,
  ToolChoice,
  ToolDefinition,
  Turn,
} from '../../core/text/conversation.ts';
import type { WireCall } from '../../core/text/text-wire.ts';

/**
 * Client's body, or the converted chat completion, with a few changes (BILL-6): the provider's name of the model, the
 * cap of the hold, and no storing. https://developers.openai.com/api/reference/resources/responses/methods/create
 */
export const toResponsesBody = (body: JsonObject, { upstream }: WireCall, outputTokensMax: number): JsonObject => ({
  ...body,
  model: upstream.model,
  max_output_tokens: outputTokensMax,
  store: false,
});

/** Chat completion in the provider's terms. */
export interface AskedResponse {
  readonly body: JsonObject;
  /** Place of each input item in the client's body, for refusals. */
  readonly turnOf: readonly string[];
}

/** Extras of a chat completion that have the same name in this API. `verbosity` is a member of `text` instead. */
const named = ['metadata', 'prompt_cache_key', 'safety_identifier'] as const;

/**
 * Throws the 400 or 422 for content that this API does not support.
 * https://developers.openai.com/api/docs/guides/migrate-to-responses
 */
export const fromConversation = (conversation: Conversation, { request, model }: WireCall): AskedResponse => {
  refuseChoices(request.choices, model.id);
  const items = withoutBlankTurns(conversation.turns).flatMap((turn) =>
    toItems(turn, model.id).map((item) => ({ item, turn })),
  );
  const { toolChoice, parallelToolCalls, temperature, topP, effort, endUser, extras } = conversation;
  const text = toText(conversation, model.id);
  return {
    turnOf: items.map(({ turn }) => turn.param),
    body: {
      input: items.map(({ item }) => item),
      ...(conversation.tools.length > 0 && { tools: conversation.tools.map(toTool) }),
      ...(toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
      ...(text && { text }),
      ...(effort !== undefined && { reasoning: { effort } }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { top_p: topP }),
      ...(endUser !== undefined && { user: endUser }),
      ...Object.fromEntries(named.filter((name) => name in extras).map((name) => [name, extras[name]])),
      ...(request.stream && { stream: true }),
    },
  };
};

const refuseChoices = (choices: number, modelId: string): void => {
  if (choices === 1) return;
  const message = `n: "${modelId}" returns one choice per request. Send n: 1.`;
  throw new GatewayError('unprocessable_entity', message, { param: 'n' });
};

/**
 * Keeps system messages in their place. `instructions` would move them to the front, which changes the cached start of
 * the prompt. The API also does not search `instructions` for the word json, which json_object requires
 * (https://github.com/BigDawnGhost/wenyi/pull/66).
 */
const toItems = (turn: Turn, modelId: string): readonly JsonObject[] => {
  switch (turn.role) {
    case 'system':
      return [{ role: 'developer', content: turn.text }];
    case 'user':
      return [{ role: 'user', content: turn.content.filter(isSaid).map((part) => toPart(part, modelId)) }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: turn.callId, output: toOutput(turn, modelId) }];
    case 'assistant': {
      const calls = turn.toolCalls.map(({ id, name, arguments: text }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: text,
      }));
      if (isBlank(turn.text)) return calls;
      const content = [{ type: 'output_text', text: turn.text }];
      // A model that finds text before calls as its final answer repeats it or stops early: https://github.com/vercel/ai/pull/12860
      return [{ role: 'assistant', content, ...(calls.length > 0 && { phase: 'commentary' }) }, ...calls];
    }
  }
};

const toOutput = (
  { text, content }: Extract<Turn, { role: 'tool' }>,
  modelId: string,
): string | readonly JsonObject[] =>
  content?.filter((part) => part.kind !== 'text' || part.text !== '').map((part) => toPart(part, modelId)) ?? text;

const toPart = (part: ContentPart, modelId: string): JsonObject => {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', image_url: part.url, detail: part.detail };
    case 'video':
      throw invalidRequest(part.param, `${part.param}: "${modelId}" does not accept videos.`);
  }
};

/** Parameters of a function without arguments. A chat completion can omit them, but this API requires them. */
const noArguments: JsonObject = { type: 'object', properties: {}, required: [], additionalProperties: false };

/**
 * In chat completions, `strict` is false by default. In this API, the default rewrites the schema so that every field
 * is required: https://developers.openai.com/api/docs/guides/function-calling#strict-mode
 */
const toTool = ({ name, description, parameters, strict }: ToolDefinition): JsonObject => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters: parameters ?? noArguments,
  strict: strict ?? false,
});

const toToolChoice = (choice: ToolChoice): JsonObject | string =>
  typeof choice === 'string' ? choice : { type: 'function', name: choice.name };

const toText = ({ format, extras }: Conversation, modelId: string): JsonObject | undefined => {
  const text = {
    ...(format && { format: toFormat(format, modelId) }),
    ...('verbosity' in extras && { verbosity: extras.verbosity }),
  };
  return Object.keys(text).length > 0 ? text : undefined;
};

const toFormat = (format: AnswerFormat, modelId: string): JsonObject => {
  if (format.kind === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  if (!schema) {
    const param = 'response_format.json_schema.schema';
    throw invalidRequest(param, `${param}: "${modelId}" needs a schema here. Send one.`);
  }
  return {
    type: 'json_schema',
    name,
    ...(description !== undefined && { description }),
    schema,
    strict: strict ?? false,
  };
};
