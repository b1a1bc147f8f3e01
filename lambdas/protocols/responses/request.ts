import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { isReadable } from '../../core/text/answer-size.ts';
import type { PromptSize, TextParams, TextRequest } from '../../core/text/conversation.ts';
import { hasOpaqueParts, promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { isShortId } from '../chat-fields.ts';
import { IgnoredFields, type KeptFields, keepFields } from '../fields.ts';
import { charactersOf, inlineImageCharacters } from '../image-url.ts';
import { hasAtMost, type OptionalField, unsupported, withoutUnsupported } from '../optional-fields.ts';
import { parseWith } from '../parse.ts';
import { type InputFile, mediaOf, type ResponsesBody, responsesBody } from './body.ts';
import { LOGPROBS, SEALED, toSend } from './to-send.ts';

/** Fields that not every model accepts (CHAT-16), in this format. */
const optional: readonly OptionalField<ResponsesBody>[] = [
  {
    field: 'temperature',
    capability: 'sampling',
    otherwise: 'list',
    isDefault: ({ temperature }) => temperature === 1,
  },
  { field: 'top_p', capability: 'sampling', otherwise: 'list', isDefault: (body) => body.top_p === 1 },
  { field: 'tools', capability: 'tools', otherwise: 'refuse', isDefault: (body) => !hasTools(body) },
  {
    field: 'parallel_tool_calls',
    capability: 'parallelTools',
    otherwise: 'refuse',
    isDefault: (body) => body.parallel_tool_calls === false,
  },
  {
    field: 'top_logprobs',
    capability: 'logprobs',
    otherwise: 'refuse',
    isDefault: (body) => body.top_logprobs === 0,
  },
  { field: 'stream', capability: 'streaming', otherwise: 'refuse', isDefault: ({ stream }) => stream === false },
  { field: 'user', isTaken: ({ user }) => isShortId(user), otherwise: 'list' },
  { field: 'prompt_cache_key', isTaken: ({ prompt_cache_key: key }) => isShortId(key), otherwise: 'list' },
  { field: 'safety_identifier', isTaken: ({ safety_identifier: id }) => isShortId(id), otherwise: 'list' },
  // The newest models accept only the other value.
  { field: 'prompt_cache_retention', isTaken: () => false, otherwise: 'list' },
];

/** Whether the request has a tool other than the web search, which is not sent. */
export const hasTools = ({ tools }: ResponsesBody): boolean =>
  tools?.some(({ type }) => type !== 'web_search') ?? false;

/**
 * RESP-6: rejects a web search of live pages, because the caller relies on it. A search of cached pages is ignored,
 * because clients offer it even if their user did not ask for it.
 */
export const refuseWebSearch = ({ tools }: ResponsesBody): void => {
  const at = tools?.findIndex((tool) => tool.type === 'web_search' && tool.external_web_access !== false) ?? -1;
  if (at < 0) return;
  const param = `tools[${at}].type`;
  const fix = 'Remove it, or send external_web_access: false to ignore it.';
  throw invalidRequest(param, `${param}: web_search runs at the provider and is not supported. ${fix}`);
};

/** Name of the end user. Undefined if it is longer than 256 characters, because it is then ignored (CHAT-15). */
export const endUserOf = ({ user }: ResponsesBody): string | undefined =>
  typeof user === 'string' && hasAtMost(user, 256) ? user : undefined;

/** Rejects what the catalog entry does not support. Returns the names of the fields that must not be sent. */
export const applyConstraints = (
  body: ResponsesBody,
  model: TextModel,
  alternatives: Alternatives,
  ignored: IgnoredFields,
): ReadonlySet<string> => {
  const unsent = withoutUnsupported(optional, body, { model, alternatives, ignored });
  refuseToolChoice(body, model);
  refuseFormat(body, model, alternatives);
  refuseEffort(body, model);
  refuseLogprobs(body, model, alternatives);
  // The provider accepts them only with a stream.
  if (!body.stream) unsent.add('stream_options');
  leaveOutCacheOptions(body, unsent, ignored);
  return unsent;
};

/** Explicit breakpoints and long lifetimes change what the provider writes to a cache, and its price. */
const leaveOutCacheOptions = (
  { prompt_cache_options: options }: ResponsesBody,
  unsent: Set<string>,
  ignored: IgnoredFields,
): void => {
  if (!options) return;
  unsent.add('prompt_cache_options');
  const isDefault = Object.entries(options).every(
    ([name, value]) => value === null || (name === 'mode' && value === 'implicit'),
  );
  if (!isDefault) ignored.add(['prompt_cache_options']);
};

const refuseToolChoice = (body: ResponsesBody, model: TextModel): void => {
  const { tool_choice: choice } = body;
  if (!choice || choice === 'none' || choice === 'auto') return;
  if (!hasTools(body)) throw invalidRequest('tool_choice', 'tool_choice: needs tools. Send both.');
  const isAuto = typeof choice === 'object' && choice.type === 'allowed_tools' && choice.mode === 'auto';
  if (isAuto || model.capabilities.forcedToolChoice) return;
  throw invalidRequest('tool_choice', `tool_choice: "${model.id}" accepts only "auto" and "none".`);
};

const refuseFormat = ({ text }: ResponsesBody, model: TextModel, alternatives: Alternatives): void => {
  const kind = text?.format?.type;
  const capability = kind === 'json_schema' ? 'jsonSchema' : 'jsonObject';
  if (!kind || kind === 'text' || model.capabilities[capability]) return;
  const others = alternatives(({ capabilities }) => capabilities[capability]);
  throw invalidRequest('text.format', `text.format: ${kind} is not supported with this model.${others}`);
};

/** RESP-3: the accepted levels are part of this format's contract, so the gateway rejects others itself. */
const refuseEffort = ({ reasoning }: ResponsesBody, model: TextModel): void => {
  const effort = reasoning?.effort;
  const accepted: readonly string[] = model.reasoning?.accepted ?? [];
  if (!effort || accepted.includes(effort)) return;
  const allowed = accepted.map((step) => JSON.stringify(step)).join(', ');
  throw invalidRequest(
    'reasoning.effort',
    accepted.length > 0
      ? `reasoning.effort: must be one of ${allowed} with "${model.id}".`
      : `reasoning.effort: not supported with "${model.id}". Remove it.`,
  );
};

const asksLogprobs = (body: ResponsesBody): boolean =>
  Boolean(body.top_logprobs) || (body.include?.includes(LOGPROBS) ?? false);

/**
 * Rejects logprobs that the model lacks (CHAT-16), or that make the response too long. The gateway would pay for a
 * response that it cannot read.
 */
const refuseLogprobs = (body: ResponsesBody, model: TextModel, alternatives: Alternatives): void => {
  const at = body.include?.indexOf(LOGPROBS) ?? -1;
  if (at >= 0 && !model.capabilities.logprobs) throw unsupported(`include[${at}]`, 'logprobs', { model, alternatives });
  if (body.stream || !asksLogprobs(body)) return;
  const { outputTokensDefault, outputTokensMax } = model.limits;
  const tokens = Math.min(body.max_output_tokens ?? outputTokensDefault, outputTokensMax);
  if (isReadable({ tokens, logprobsPerToken: 1 + (body.top_logprobs ?? 0) })) return;
  const param = body.top_logprobs ? 'top_logprobs' : `include[${at}]`;
  const message = `${param}: the response could be longer than the limit. Stream it, or lower max_output_tokens.`;
  throw invalidRequest(param, message);
};

interface Parsed {
  readonly body: ResponsesBody;
  readonly json: JsonObject;
  readonly kept: KeptFields;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

/** Converts a responses body to the core's terms. Throws the 400 that names the field. */
export const toTextParams = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextParams => {
  const kept = keepFields(responsesBody, json);
  const body = parseWith(responsesBody, kept.body);
  refuseWebSearch(body);
  return {
    protocol: 'responses',
    modelId: body.model,
    endUser: endUserOf(body),
    params: { prompt: 'input', cap: 'max_output_tokens' },
    validateFor: (model) => validateFor({ body, json, kept, bodyBytes, alternatives }, model),
  };
};

const validateFor = (parsed: Parsed, model: TextModel): TextRequest => {
  const { body, alternatives } = parsed;
  const kept = keptFor(parsed, model);
  const ignored = new IgnoredFields(kept.ignored);
  const unsent = applyConstraints(body, model, alternatives, ignored);
  const chosen = toSend(kept.body, body, { unsent, ignored });
  const sent = { ...chosen, ...includeFor(chosen, model) };
  return {
    stream: body.stream ?? false,
    choices: 1,
    outputTokensMax: body.max_output_tokens ?? undefined,
    usesTools: hasTools(body) || hasFoundTools(body),
    effort: body.reasoning?.effort ?? undefined,
    logprobsPerToken: asksLogprobs(body) ? 1 + (body.top_logprobs ?? 0) : 0,
    prompt: measure(parsed, model, { chosen, sent }),
    promptPricing: 'one-rate',
    body: sent,
    ignored: ignored.names,
  };
};

/** Fields for the provider, with the extra fields of the model's catalog entry. */
const keptFor = ({ json, kept }: Parsed, { extraFields }: TextModel): KeptFields => {
  const isExtra = ([name]: readonly [string, unknown]): boolean =>
    extraFields.includes(name) && !Object.hasOwn(responsesBody.shape, name);
  const extras = Object.entries(json).filter(isExtra);
  if (extras.length === 0) return kept;
  const others = Object.entries(json).filter((entry) => !isExtra(entry));
  const { body, ignored } = keepFields(responsesBody, Object.fromEntries(others));
  return { body: { ...body, ...Object.fromEntries(extras) }, ignored };
};

const hasFoundTools = ({ input }: ResponsesBody): boolean =>
  typeof input !== 'string' && input.some((item) => item.type === 'tool_search_output');

/** Requests encrypted reasoning. Nothing is stored, so a client can send reasoning back only in this form. */
const includeFor = ({ include }: JsonObject, model: TextModel): JsonObject => {
  const asked = Array.isArray(include) ? include : [];
  return model.reasoning && !asked.includes(SEALED) ? { include: [...asked, SEALED] } : {};
};

interface Measured {
  /** Part of the sent body that the client chose. */
  readonly chosen: JsonObject;
  readonly sent: JsonObject;
}

const measure = (
  { body, json, bodyBytes, alternatives }: Parsed,
  model: TextModel,
  { chosen, sent }: Measured,
): PromptSize => {
  const media = mediaOf(body.input);
  const [first] = media;
  // The provider also reads each page of a PDF as an image.
  if (first && !model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not accept ${first.kind}s.${others}`);
  }
  const inline = media.flatMap((part) => {
    if (part.kind === 'file') return contentOf(part);
    return inlineImageCharacters(part.url, part.param) > 0 ? part.url : [];
  });
  // The gateway serializes the body again. It can become shorter, because ignored fields are removed, or longer,
  // because 1e20 becomes 21 digits.
  const isAsItCame = chosen === json && !mayGrow(body);
  const bytes = isAsItCame ? bodyBytes : Buffer.byteLength(JSON.stringify(chosen));
  return {
    bytes: bytes - charactersOf(inline),
    textTokens: promptTextTokens(sent, inline, model),
    hasOpaqueParts: hasOpaqueParts(sent),
    images: media.flatMap((part) => (part.kind === 'image' ? part.detail : [])),
    // The provider reads files of many types, and their bytes do not limit their tokens.
    documents: media.filter(({ kind }) => kind === 'file').length,
  };
};

const contentOf = ({ data, url, param }: InputFile): readonly string[] => {
  if (data !== undefined) return [data];
  if (url !== undefined) return [];
  throw invalidRequest(`${param}.file_data`, `${param}.file_data: required. Send it, or file_url.`);
};

/** Whether the body contains free JSON, such as the schema of a tool. Its numbers can become longer when written again. */
const mayGrow = ({ tools, text, input }: ResponsesBody): boolean =>
  Boolean(tools ?? text) ||
  (typeof input !== 'string' && input.some(({ type }) => type === 'tool_search_call' || type === 'tool_search_output'));
