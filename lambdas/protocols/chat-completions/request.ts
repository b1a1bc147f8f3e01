import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { parseWith, shownName } from '../parse.ts';
import { type ChatBody, chatBody, chatFieldNames } from './body.ts';
import { applyConstraints } from './constraints.ts';
import { checkImage } from './images.ts';
import { imagesOf } from './messages.ts';
import { type Extras, toSend } from './to-send.ts';

/** A chat body in the core's terms. Throws the 400 or 422 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  // Fields beyond the protocol's own are the business of the model's entry, which is not known yet.
  const known = Object.fromEntries(Object.entries(json).filter(([name]) => chatFieldNames.has(name)));
  const extras = Object.entries(json).filter(([name]) => !chatFieldNames.has(name));
  const body = parseWith(chatBody, known);
  refuseTwoCaps(body);
  refuseToolChoiceAlone(body);
  return {
    protocol: 'chat_completions',
    modelId: body.model,
    endUser: body.user ?? undefined,
    prepare: (model) => prepare({ body, extras, bodyBytes, alternatives }, model),
  };
};

interface Parsed {
  readonly body: ChatBody;
  readonly extras: Extras;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

const prepare = (parsed: Parsed, model: TextModel): TextRequest => {
  const { body, extras, alternatives } = parsed;
  refuseUnknown(extras, model);
  const unsent = applyConstraints(body, model, alternatives);
  const prompt = measure(parsed, model);
  return {
    stream: body.stream ?? false,
    choices: body.n ?? 1,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    usesTools: Boolean(body.tools),
    effort: body.reasoning_effort ?? undefined,
    prompt,
    body: toSend(body, extras, unsent),
  };
};

const refuseTwoCaps = ({ max_tokens: one, max_completion_tokens: other }: ChatBody): void => {
  if (typeof one !== 'number' || typeof other !== 'number' || one === other) return;
  throw invalidRequest('max_tokens', 'max_tokens: differs from max_completion_tokens. Send one of them.');
};

const refuseToolChoiceAlone = ({ tools, tool_choice: choice }: ChatBody): void => {
  if (tools || !choice || choice === 'none' || choice === 'auto') return;
  throw invalidRequest('tool_choice', 'tool_choice: needs tools beside it.');
};

const refuseUnknown = (extras: Extras, model: TextModel): void => {
  for (const [name] of extras) {
    if (model.extraFields.includes(name)) continue;
    const shown = shownName(name);
    throw invalidRequest(shown, `${shown}: this field is not supported here. Leave it out.`);
  }
};

const measure = ({ body: { messages }, bodyBytes, alternatives }: Parsed, model: TextModel): PromptSize => {
  const images = imagesOf(messages);
  const [first] = images;
  if (first && !model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not take images.${others}`);
  }
  let inlineCharacters = 0;
  for (const { url, param } of images) inlineCharacters += checkImage(url, param);
  // JSON is never shorter than the text it spells, so the body's length bounds the prompt's.
  return { bytes: bodyBytes - inlineCharacters, images: images.length };
};
