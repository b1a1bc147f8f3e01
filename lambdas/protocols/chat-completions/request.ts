import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import { parseWith } from '../parse.ts';
import { type ChatBody, chatBody, chatFieldNames } from './body.ts';
import { applyConstraints } from './constraints.ts';
import { checkImage } from './images.ts';
import { imagesOf } from './messages.ts';
import { type Extras, toSend } from './to-send.ts';

/** A chat body in the core's terms. Throws the 400 or 422 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number): TextOrder => {
  // Fields beyond the protocol's own are the business of the model's entry, which is not known yet.
  const known = Object.fromEntries(Object.entries(json).filter(([name]) => chatFieldNames.has(name)));
  const extras = Object.entries(json).filter(([name]) => !chatFieldNames.has(name));
  const body = parseWith(chatBody, known);
  refuseTwoCaps(body);
  refuseToolChoiceAlone(body);
  return {
    protocol: 'chat_completions',
    modelId: body.model,
    endUser: body.user,
    prepare: (model) => prepare(body, extras, bodyBytes, model),
  };
};

const prepare = (body: ChatBody, extras: Extras, bodyBytes: number, model: TextModel): TextRequest => {
  refuseUnknown(extras, model);
  const unsent = applyConstraints(body, model);
  const prompt = measure(body, bodyBytes, model);
  return {
    stream: body.stream ?? false,
    choices: body.n ?? 1,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    usesTools: body.tools !== undefined,
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
  if (tools || choice === undefined || choice === 'none') return;
  throw invalidRequest('tool_choice', 'tool_choice: needs tools beside it.');
};

const refuseUnknown = (extras: Extras, model: TextModel): void => {
  for (const [name] of extras) {
    if (model.extraFields.includes(name)) continue;
    throw invalidRequest(name, `${name}: this field is not supported here. Leave it out.`);
  }
};

const measure = ({ messages }: ChatBody, bodyBytes: number, model: TextModel): PromptSize => {
  const images = imagesOf(messages);
  const [first] = images;
  if (first && !model.inputTypes.includes('image')) {
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not take images.`);
  }
  let inlineCharacters = 0;
  for (const { url, param } of images) inlineCharacters += checkImage(url, param);
  // JSON is never shorter than the text it spells, so the body's length bounds the prompt's.
  return { bytes: bodyBytes - inlineCharacters, images: images.length };
};
