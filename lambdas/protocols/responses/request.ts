import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/conversation.ts';
import { promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { type KeptFields, keepFields } from '../fields.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { charactersOf, inlineImageCharacters } from '../image-url.ts';
import { parseWith } from '../parse.ts';
import { type ResponsesBody, responsesBody } from './body.ts';
import { applyConstraints, endUserOf, hasTools, refuseWebSearch } from './constraints.ts';
import { imagesOf } from './items.ts';
import { SEALED, toSend } from './to-send.ts';

interface Parsed {
  readonly body: ResponsesBody;
  readonly json: JsonObject;
  readonly kept: KeptFields;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

/** A responses body in the core's terms. Throws the 400 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  const kept = keepFields(responsesBody, json);
  const body = parseWith(responsesBody, kept.body);
  refuseWebSearch(body);
  return {
    protocol: 'responses',
    modelId: body.model,
    endUser: endUserOf(body),
    params: { prompt: 'input', cap: 'max_output_tokens' },
    prepare: (model) => prepare({ body, json, kept, bodyBytes, alternatives }, model),
  };
};

const prepare = (parsed: Parsed, model: TextModel): TextRequest => {
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
    prompt: measure(parsed, model, { chosen, sent }),
    promptPricing: 'one-rate',
    body: sent,
    ignored: ignored.names,
  };
};

/** Fields beyond the protocol's own are sent if the model's entry names them. */
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

/** Since nothing is stored, reasoning can be sent back only by a client that received it sealed. */
const includeFor = ({ include }: JsonObject, model: TextModel): JsonObject => {
  const asked = Array.isArray(include) ? include : [];
  return model.reasoning && !asked.includes(SEALED) ? { include: [...asked, SEALED] } : {};
};

interface Measured {
  /** What the client chose of what is sent. */
  readonly chosen: JsonObject;
  readonly sent: JsonObject;
}

const measure = (
  { body, json, bodyBytes, alternatives }: Parsed,
  model: TextModel,
  { chosen, sent }: Measured,
): PromptSize => {
  const images = imagesOf(body.input);
  const [first] = images;
  if (first && !model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not take images.${others}`);
  }
  const inline = images.filter(({ url, param }) => inlineImageCharacters(url, param) > 0).map(({ url }) => url);
  // What is sent is written anew. It can be shorter, without what is left out, and longer: 1e20 becomes 21 digits.
  const isAsItCame = chosen === json && !mayGrow(body);
  const bytes = isAsItCame ? bodyBytes : Buffer.byteLength(JSON.stringify(chosen));
  return {
    bytes: bytes - charactersOf(inline),
    textTokens: promptTextTokens(sent, inline, model),
    images: images.map(({ detail }) => detail),
  };
};

/** Whether the client wrote numbers into JSON of its own. */
const mayGrow = ({ tools, text, input }: ResponsesBody): boolean =>
  Boolean(tools ?? text) ||
  (typeof input !== 'string' && input.some(({ type }) => type === 'tool_search_call' || type === 'tool_search_output'));
