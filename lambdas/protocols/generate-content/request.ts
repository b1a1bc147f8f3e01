import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { promptTextTokens } from '../../core/text/prompt-tokens.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith, shownName } from '../parse.ts';
import { countContentBody, type GenerateContentBody, generateContentBody } from './body.ts';
import { applyConstraints, hasFunctions } from './constraints.ts';
import { type MediaSize, measureMedia } from './media.ts';

/** What a client sent, and where. */
export interface ContentRequest {
  /** As it stands in the path. */
  readonly modelId: string;
  readonly stream: boolean;
  readonly json: JsonObject;
  readonly bodyBytes: number;
}

interface Parsed extends ContentRequest {
  readonly body: GenerateContentBody;
  readonly alternatives: Alternatives;
}

/** A generate-content body in the core's terms. Throws the 400 or 422 that names the field. */
export const toTextOrder = (request: ContentRequest, alternatives: Alternatives): TextOrder => {
  const body = parseWith(generateContentBody, request.json);
  refuseOtherModel(body.model, request.modelId, 'model');
  return {
    protocol: 'generate_content',
    modelId: request.modelId,
    endUser: undefined,
    params: { prompt: 'contents', cap: 'generationConfig.maxOutputTokens' },
    prepare: (model) => prepare({ ...request, body, alternatives }, model),
  };
};

export interface CountOrder {
  /** The body to count, valid for the model; the model itself is not in it. Throws the 400 or 422 that names the field. */
  prepare(model: TextModel): JsonObject;
}

/** A body to count the tokens of: contents alone, or a whole request. */
export const toCountOrder = (
  { modelId, json }: Pick<ContentRequest, 'modelId' | 'json'>,
  alternatives: Alternatives,
): CountOrder => {
  const { model: named, contents, generateContentRequest: whole } = parseWith(countContentBody, json);
  refuseOtherModel(named, modelId, 'model');
  if (whole && !contents) {
    const at = 'generateContentRequest.';
    refuseOtherModel(whole.model, modelId, `${at}model`);
    return { prepare: (model) => ({ generateContentRequest: checked(whole, model, alternatives, at).sent }) };
  }
  if (!contents || whole) throw invalidRequest('contents', 'contents: send either this or generateContentRequest.');
  return { prepare: (model) => ({ contents: checked({ contents }, model, alternatives, '').sent.contents }) };
};

/** A name in the body beside that of the path would be for nothing, or for another model than the client thinks. */
const refuseOtherModel = (named: string | undefined, modelId: string, param: string): void => {
  if (named === undefined || named.replace(/^models\//, '') === modelId) return;
  throw invalidRequest(param, `${param}: must be "${shownName(modelId)}" as in the path. Leave it out.`);
};

const prepare = ({ stream, ...parsed }: Parsed, model: TextModel): TextRequest => {
  const { body, alternatives } = parsed;
  if (stream && !model.capabilities.streaming) {
    const others = alternatives(({ capabilities }) => capabilities.streaming);
    throw invalidRequest('model', `model: "${model.id}" does not stream. Use :generateContent.${others}`);
  }
  const { sent, media } = checked(body, model, alternatives, '');
  const { candidateCount = 1, maxOutputTokens, thinkingConfig, imageConfig } = body.generationConfig ?? {};
  return {
    stream,
    choices: candidateCount,
    outputTokensMax: maxOutputTokens,
    usesTools: hasFunctions(body),
    effort: thinkingConfig?.thinkingLevel?.toLowerCase(),
    prompt: measure(parsed, model, sent, media),
    promptPricing: 'one-rate',
    imageTier: imageConfig?.imageSize,
    body: sent,
  };
};

interface Checked {
  readonly sent: JsonObject;
  readonly media: MediaSize;
}

const checked = (body: GenerateContentBody, model: TextModel, alternatives: Alternatives, at: string): Checked => {
  const unsent = applyConstraints(body, { model, alternatives, at });
  const media = measureMedia(body.contents, model, alternatives, `${at}contents`);
  const { model: _named, generationConfig, ...rest } = body;
  const config = Object.entries(generationConfig ?? {}).filter(([field]) => !unsent.has(field));
  return { sent: { ...rest, ...(generationConfig && { generationConfig: Object.fromEntries(config) }) }, media };
};

const measure = (
  { body, bodyBytes }: Omit<Parsed, 'stream'>,
  model: TextModel,
  sent: JsonObject,
  { inline, ...media }: MediaSize,
): PromptSize => {
  const bytes = Math.max(bodyBytes, mayGrow(body) ? Buffer.byteLength(JSON.stringify(sent)) : 0);
  // What an answer has said so far is read again by the request that goes on with it: as much as fits the context.
  const saidBefore = body.continuationToken === undefined ? 0 : model.limits.contextTokens;
  return {
    bytes: bytes - charactersOf(inline) + saidBefore,
    textTokens: promptTextTokens(sent, inline, model) + saidBefore,
    ...media,
  };
};

/** What goes to the vendor is written anew, and a number can become longer by that: 1e20 has 21 digits. Text cannot. */
const mayGrow = ({ contents, tools, generationConfig: config }: GenerateContentBody): boolean =>
  Boolean(tools ?? config?.responseSchema ?? config?.responseJsonSchema) ||
  contents.some(({ parts = [] }) =>
    parts.some((part) => part.functionCall ?? part.functionResponse ?? part.partMetadata),
  );
