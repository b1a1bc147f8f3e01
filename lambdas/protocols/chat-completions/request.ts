import type { Wire } from '../../core/catalog/providers.ts';
import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { isReadable } from '../../core/text/answer-size.ts';
import { JSON_INSTRUCTION, type PromptSize, type TextParams, type TextRequest } from '../../core/text/conversation.ts';
import { hasOpaqueParts, promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { gemini, isEndUser, wireFor } from '../chat-fields.ts';
import { extraFieldsOf, IgnoredFields, type KeptFields, keepFields } from '../fields.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith } from '../parse.ts';
import { type ChatBody, chatBody, forVendor } from './body.ts';
import { measureMedia, mediaOf, toConversation, toSend } from './conversation.ts';
import { fitIdentifiers } from './identifiers.ts';
import { withSchemasFor } from './schemas.ts';

const present = (body: ChatBody, field: keyof ChatBody): boolean => body[field] !== undefined && body[field] !== null;

/** Throws the 400 or 422 for a field that the caller relies on and the model lacks. */
export const checkAgainst = (body: ChatBody, wire: Wire, model: TextModel, alternatives: Alternatives): void => {
  refuseForcedTool(body, model);
  refuseFormat(body, wire, model, alternatives);

  if ((body.n ?? 1) > 1 && !model.capabilities.multipleChoices) {
    const others = alternatives(({ capabilities }) => capabilities.multipleChoices);
    const message = `n: "${model.id}" returns one choice per request. Send n: 1.${others}`;
    throw new GatewayError('unprocessable_entity', message, { param: 'n' });
  }
};

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const refuseForcedTool = ({ tool_choice: choice }: ChatBody, model: TextModel): void => {
  const forced = choice === 'required' || isObject(choice);
  if (!forced || model.capabilities.forcedToolChoice) return;
  throw invalidRequest('tool_choice', `tool_choice: "${model.id}" accepts only "auto" and "none".`);
};

/** CHAT-8. Claude gets an instruction to return JSON. */
const refuseFormat = (
  { response_format: format }: ChatBody,
  wire: Wire,
  model: TextModel,
  alternatives: Alternatives,
): void => {
  const { jsonObject, jsonSchema } = model.capabilities;
  if (format?.type === 'json_schema' && !jsonSchema) {
    const others = alternatives(({ capabilities }) => capabilities.jsonSchema);
    throw invalidRequest('response_format', `response_format: json_schema is not supported with this model.${others}`);
  }
  if (format?.type === 'json_object' && !jsonObject && wire !== 'anthropic_messages') {
    const others = alternatives(({ capabilities }) => capabilities.jsonObject);
    throw invalidRequest('response_format', `response_format: json_object is not supported with this model.${others}`);
  }
};

/** Rejects a body with both effort fields (CHAT-9). */
export const refuseTwoEfforts = (body: ChatBody): void => {
  if (!present(body, 'reasoning_effort') || !body.output_config?.effort) return;
  throw invalidRequest(
    'reasoning_effort',
    'reasoning_effort: cannot be combined with output_config.effort. Send one of them.',
  );
};

/** Converts a chat body to the core's terms. Throws the 400 or 422 that names the field. */
export const toTextParams = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextParams => {
  refuseFunctionRole(json);
  const kept = keepFields(chatBody, json);
  const body = parseWith(chatBody, kept.body);
  refuseEmptyAnswers(body);
  refuseTwoCaps(body);
  refuseTwoEfforts(body);
  refuseToolChoiceAlone(body);
  return {
    protocol: 'chat_completions',
    modelId: body.model,
    endUser: body.user && isEndUser(body.user) ? body.user : undefined,
    params: { prompt: 'messages', cap: capFieldOf(body) },
    validateFor: (model) => validateFor({ body, json, kept, bodyBytes, alternatives }, model),
  };
};

interface Parsed {
  readonly body: ChatBody;
  readonly json: JsonObject;
  readonly kept: KeptFields;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

const validateFor = (parsed: Parsed, model: TextModel): TextRequest => {
  const { json, kept, alternatives } = parsed;
  const extras = extraFieldsOf(json, chatBody, model);
  const ignored = new IgnoredFields(kept.ignored, Object.keys(extras));
  const wire = wireFor(parsed.body, model);
  const supported = withSchemasFor(wire, forVendor(parsed.body, wire, { model, alternatives, ignored }), ignored);
  const { body, ownNames } = fitIdentifiers(supported, wire);
  const isFitted = body !== supported;
  checkAgainst(body, wire, model, alternatives);
  refuseUnreadable(body, model);
  const sent = toSend(body, extras);
  const isAsked = wire === 'anthropic_messages' && body.response_format?.type === 'json_object';
  const added = {
    instruction: isAsked ? JSON_INSTRUCTION : '',
    signatures: gemini.includes(wire) ? signaturesOf(body) : [],
  };
  return {
    stream: body.stream ?? false,
    choices: body.n ?? 1,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    usesTools: Boolean(body.tools?.length),
    effort: body.reasoning_effort ?? body.output_config?.effort ?? undefined,
    logprobsPerToken: logprobsPerToken(body),
    prompt: measure(parsed, body, model, { sent, ignored, isFitted, ...added }),
    promptPricing: 'one-rate',
    body: sent,
    ignored: ignored.names,
    cutAt: unsentStop(parsed.body, body),
    ...(ownNames.size > 0 && { ownNames }),
    toConversation: () => toConversation(body, model),
  };
};

/** Longest stop sequences, all together, that the gateway searches for. */
const STOP_LENGTH_MAX = 10_000;

/** Returns the client's stop sequences if they are not sent. */
const unsentStop = ({ stop: asked }: ChatBody, { stop: sent }: ChatBody): readonly string[] | undefined => {
  if (asked === sent || !asked) return undefined;
  const sequences = [asked].flat().filter((text) => text !== '');
  if (sequences.length === 0) return undefined;
  if (sequences.join('').length > STOP_LENGTH_MAX) {
    throw invalidRequest('stop', `stop: can have at most ${STOP_LENGTH_MAX} characters. Send shorter sequences.`);
  }
  return sequences;
};

const invalidMessages = (param: string, problem: string): GatewayError =>
  new GatewayError('invalid_messages', `${param}: ${problem}`, { param });

const refuseFunctionRole = ({ messages }: JsonObject): void => {
  if (!Array.isArray(messages)) return;
  const at = messages.findIndex((message) => isJsonObject(message) && message.role === 'function');
  if (at < 0) return;
  throw invalidMessages(`messages[${at}].role`, 'deprecated. Send the result with role "tool" and its tool_call_id.');
};

const refuseEmptyAnswers = ({ messages }: ChatBody): void => {
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant' || message.tool_calls?.length) continue;
    if ((message.content ?? message.refusal ?? undefined) !== undefined) continue;
    throw invalidMessages(`messages[${at}].content`, 'can be null only with tool_calls.');
  }
};

const refuseTwoCaps = ({ max_tokens: one, max_completion_tokens: other }: ChatBody): void => {
  if (typeof one !== 'number' || typeof other !== 'number' || one === other) return;
  throw invalidRequest('max_tokens', 'max_tokens: differs from max_completion_tokens. Send one of them.');
};

const refuseToolChoiceAlone = ({ tools, tool_choice: choice }: ChatBody): void => {
  if (tools?.length || !choice || choice === 'none' || choice === 'auto') return;
  throw invalidRequest('tool_choice', 'tool_choice: needs tools. Send both.');
};

/** Field of the output limit that the client sent. A second one with another value would be a 400. */
const capFieldOf = ({ max_completion_tokens: cap }: ChatBody): string =>
  typeof cap === 'number' ? 'max_completion_tokens' : 'max_tokens';

/** Name of the field that the error blames for a response that could be too long. */
const longestBy = (body: ChatBody): string => {
  if (body.logprobs) return body.top_logprobs ? 'top_logprobs' : 'logprobs';
  return (body.n ?? 1) > 1 ? 'n' : capFieldOf(body);
};

const logprobsPerToken = ({ logprobs, top_logprobs: alternatives }: ChatBody): number =>
  logprobs ? 1 + (alternatives ?? 0) : 0;

const refuseUnreadable = (body: ChatBody, model: TextModel): void => {
  const { outputTokensDefault, outputTokensMax } = model.limits;
  const cap = Math.min(body.max_completion_tokens ?? body.max_tokens ?? outputTokensDefault, outputTokensMax);
  const tokens = cap * (body.n ?? 1);
  if (body.stream || isReadable({ tokens, logprobsPerToken: logprobsPerToken(body) })) return;
  const param = longestBy(body);
  const advice = `Stream it, or lower n, ${capFieldOf(body)} or top_logprobs.`;
  throw invalidRequest(param, `${param}: the response could be longer than the limit. ${advice}`);
};

interface Sent {
  readonly sent: JsonObject;
  readonly ignored: IgnoredFields;
  /** Whether identifiers were replaced. */
  readonly isFitted: boolean;
  /** Instruction that the gateway adds for the provider. */
  readonly instruction: string;
  /** Signatures of calls, for providers that require them. The chat body has none. */
  readonly signatures: readonly string[];
}

const measure = (
  { json, kept, bodyBytes, alternatives }: Parsed,
  body: ChatBody,
  model: TextModel,
  { sent, ignored, isFitted, instruction, signatures }: Sent,
): PromptSize => {
  const { inline, ...media } = measureMedia(mediaOf(body.messages), model, alternatives);
  // The gateway serializes the body again. It can become shorter, because ignored fields are removed, or longer,
  // because 1e20 becomes 21 digits.
  const isAsItCame = kept.body === json && ignored.names.length === 0 && !isFitted && !mayChange(body);
  const bytes = isAsItCame ? bodyBytes : Buffer.byteLength(JSON.stringify(sent) + signatures.join(''));
  return {
    bytes: bytes + instruction.length - charactersOf(inline),
    textTokens: promptTextTokens([sent, instruction, ...signatures], inline, model),
    hasOpaqueParts: signatures.length > 0 || hasOpaqueParts(sent),
    ...media,
  };
};

/** Whether the body has numbers, which can become longer, thoughts, which are not sent, or images that are moved. */
const mayChange = ({ tools, response_format: format, logit_bias: bias, messages }: ChatBody): boolean =>
  Boolean(tools ?? format ?? bias) ||
  messages.some(
    ({ role, content }) =>
      (role === 'assistant' || role === 'tool') &&
      Array.isArray(content) &&
      content.some(({ type }) => type !== 'text' && type !== 'refusal'),
  );

const signaturesOf = ({ messages }: ChatBody): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).flatMap((call) => call.extra_content?.google?.thought_signature ?? [])
      : [],
  );
