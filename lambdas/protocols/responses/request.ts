import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { promptTextTokens } from '../../core/text/prompt-tokens.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { charactersOf, inlineImageCharacters } from '../image-url.ts';
import { parseWith, shownName } from '../parse.ts';
import { type ResponsesBody, responsesBody, responsesFieldNames } from './body.ts';
import { applyConstraints, refuseMemory } from './constraints.ts';
import { bareItem, reasoningFirst } from './item-order.ts';
import { imagesOf } from './items.ts';

interface Parsed {
  readonly body: ResponsesBody;
  readonly json: JsonObject;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

/** A responses body in the core's terms. Throws the 400 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  refuseMemory(json);
  // Fields beyond the protocol's own are the business of the model's entry, which is not known yet.
  const known = Object.fromEntries(Object.entries(json).filter(([name]) => responsesFieldNames.has(name)));
  const body = parseWith(responsesBody, known);
  return {
    protocol: 'responses',
    modelId: body.model,
    endUser: body.user ?? undefined,
    params: { prompt: 'input', cap: 'max_output_tokens' },
    prepare: (model) => prepare({ body, json, bodyBytes, alternatives }, model),
  };
};

const prepare = (parsed: Parsed, model: TextModel): TextRequest => {
  const { body, json, alternatives } = parsed;
  refuseUnknown(json, model);
  const unsent = applyConstraints(body, model, alternatives);
  const kept = Object.entries(json).filter(([name, value]) => value !== null && !unsent.has(name));
  const sent = { ...Object.fromEntries(kept), input: toInput(json.input), ...includeFor(body, model) };
  return {
    stream: body.stream ?? false,
    choices: 1,
    outputTokensMax: body.max_output_tokens ?? undefined,
    usesTools: Boolean(body.tools?.length),
    effort: body.reasoning?.effort ?? undefined,
    prompt: measure(parsed, model, sent),
    promptPricing: 'one-rate',
    body: sent,
  };
};

const SEALED = 'reasoning.encrypted_content';

/** Since nothing is stored, reasoning can be sent back only by a client that was given it, sealed as it is. */
const includeFor = ({ include }: ResponsesBody, model: TextModel): JsonObject => {
  const asked = include ?? [];
  return model.reasoning && !asked.includes(SEALED) ? { include: [...asked, SEALED] } : {};
};

const toInput = (input: JsonObject[string]): JsonObject[string] =>
  Array.isArray(input) ? reasoningFirst(input.map(bareItem)) : input;

const refuseUnknown = (json: JsonObject, model: TextModel): void => {
  for (const name of Object.keys(json)) {
    if (responsesFieldNames.has(name) || model.extraFields.includes(name)) continue;
    const shown = shownName(name);
    throw invalidRequest(shown, `${shown}: this field is not supported here. Leave it out.`);
  }
};

const measure = ({ body, json, bodyBytes, alternatives }: Parsed, model: TextModel, sent: JsonObject): PromptSize => {
  const images = imagesOf(body.input);
  const [first] = images;
  if (first && !model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not take images.${others}`);
  }
  const inline = images.filter(({ url, param }) => inlineImageCharacters(url, param) > 0).map(({ url }) => url);
  // What goes to the vendor is written anew and can be longer than what came: 1e20 becomes 21 digits.
  const written = body.tools || body.text ? Buffer.byteLength(JSON.stringify(json)) : 0;
  return {
    bytes: Math.max(bodyBytes, written) - charactersOf(inline),
    textTokens: promptTextTokens(sent, inline, model),
    images: images.map(({ detail }) => detail),
  };
};
