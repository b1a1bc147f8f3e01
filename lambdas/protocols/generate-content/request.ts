import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { PromptSize, TextParams, TextRequest } from '../../core/text/conversation.ts';
import { hasOpaqueParts, promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { IgnoredFields, keepFields } from '../fields.ts';
import { charactersOf } from '../image-url.ts';
import { type Entry, type OptionalField, unsupported, withoutUnsupported } from '../optional-fields.ts';
import { parseWith, shownName } from '../parse.ts';
import { countContentBody, type GenerateContentBody, type GenerationConfig, generateContentBody } from './body.ts';
import { type MediaSize, measureMedia } from './media.ts';

/**
 * Fields that not every model accepts. The sampling fields are not among them: they always reach the provider (GEM-1).
 */
const optional: readonly OptionalField<GenerationConfig>[] = [
  {
    field: 'stopSequences',
    capability: 'stop',
    otherwise: 'refuse',
    isDefault: ({ stopSequences }) => stopSequences?.length === 0,
  },
  { field: 'seed', capability: 'seed', otherwise: 'list' },
  {
    field: 'presencePenalty',
    capability: 'penalties',
    otherwise: 'list',
    isDefault: ({ presencePenalty }) => presencePenalty === 0,
  },
  {
    field: 'frequencyPenalty',
    capability: 'penalties',
    otherwise: 'list',
    isDefault: ({ frequencyPenalty }) => frequencyPenalty === 0,
  },
  {
    field: 'responseLogprobs',
    capability: 'logprobs',
    otherwise: 'refuse',
    isDefault: ({ responseLogprobs }) => !responseLogprobs,
  },
  { field: 'logprobs', capability: 'logprobs', otherwise: 'refuse' },
];

/**
 * Rejects what the catalog entry does not support (GEN-11). Returns the names of fields of generationConfig that must
 * not be sent.
 */
export const applyConstraints = (body: GenerateContentBody, entry: Entry): ReadonlySet<string> => {
  const config = body.generationConfig ?? {};
  const unsent = withoutUnsupported(optional, config, { ...entry, at: `${entry.at ?? ''}generationConfig.` });
  refuseTools(body, entry);
  refuseFormat(config, entry);
  refuseCandidates(config, entry);
  refuseImages(config, entry);
  return unsent;
};

export const hasFunctions = ({ tools = [] }: GenerateContentBody): boolean =>
  tools.some(({ functionDeclarations = [] }) => functionDeclarations.length > 0);

const refuseTools = (body: GenerateContentBody, entry: Entry): void => {
  const { capabilities } = entry.model;
  if (!capabilities.tools && hasFunctions(body)) throw unsupported('tools', 'tools', entry);
  const mode = body.toolConfig?.functionCallingConfig?.mode?.toUpperCase();
  if (mode !== 'ANY' || capabilities.forcedToolChoice) return;
  throw unsupported('toolConfig.functionCallingConfig.mode', 'forcedToolChoice', entry);
};

const refuseFormat = (config: GenerationConfig, entry: Entry): void => {
  const schema = (['responseSchema', 'responseJsonSchema'] as const).find((field) => config[field] !== undefined);
  const field = schema ?? 'responseMimeType';
  const { responseMimeType: type = 'text/plain' } = config;
  if (!schema && type === 'text/plain') return;
  const capability = schema || type === 'text/x.enum' ? 'jsonSchema' : 'jsonObject';
  if (!entry.model.capabilities[capability]) throw unsupported(`generationConfig.${field}`, capability, entry);
};

/** Same rule as CHAT-3 for `n`. */
const refuseCandidates = ({ candidateCount = 1 }: GenerationConfig, { model, alternatives, at = '' }: Entry): void => {
  if (candidateCount === 1 || model.capabilities.multipleChoices) return;
  const param = `${at}generationConfig.candidateCount`;
  const others = alternatives(({ capabilities }) => capabilities.multipleChoices);
  const message = `${param}: "${model.id}" returns one choice per request. Send 1.${others}`;
  throw new GatewayError('unprocessable_entity', message, { param });
};

/** Rejects image fields for a model without images, and an image size without a price (IMG-8). */
const refuseImages = (
  { responseModalities = [], imageConfig }: GenerationConfig,
  { model, alternatives, at = '' }: Entry,
): void => {
  const { id, imageTiers: sizes } = model;
  const modality = responseModalities.some((name) => name.toUpperCase() === 'IMAGE') && 'responseModalities';
  const field = imageConfig ? 'imageConfig' : modality;
  if (field && sizes.length === 0) {
    const param = `${at}generationConfig.${field}`;
    const others = alternatives(({ imageTiers }) => imageTiers.length > 0);
    throw invalidRequest(param, `${param}: "${id}" does not generate images. Remove the field.${others}`);
  }
  const { imageSize } = imageConfig ?? {};
  if (imageSize === undefined || sizes.includes(imageSize)) return;
  const param = `${at}generationConfig.imageConfig.imageSize`;
  const allowed = sizes.map((size) => JSON.stringify(size)).join(', ');
  throw invalidRequest(param, `${param}: must be one of ${allowed} with "${id}".`);
};

export interface ContentRequest {
  /** Model id in the path. */
  readonly modelId: string;
  readonly stream: boolean;
  readonly json: JsonObject;
  readonly bodyBytes: number;
}

interface Parsed extends ContentRequest {
  readonly body: GenerateContentBody;
  /** Fields that no model accepts. */
  readonly ignored: IgnoredFields;
  readonly alternatives: Alternatives;
  /** Whether nothing was removed from the client's body. */
  readonly isWhole: boolean;
}

/** Converts a generate-content body to the core's terms. Throws the 400 or 422 that names the field. */
export const toTextParams = (request: ContentRequest, alternatives: Alternatives): TextParams => {
  const { body: kept, ignored } = keepFields(generateContentBody, request.json);
  const body = parseWith(generateContentBody, kept);
  refuseOtherModel(body.model, request.modelId, 'model');
  return {
    protocol: 'generate_content',
    modelId: request.modelId,
    endUser: undefined,
    params: { prompt: 'contents', cap: 'generationConfig.maxOutputTokens' },
    validateFor: (model) =>
      validateFor({ ...request, body, ignored, alternatives, isWhole: kept === request.json }, model),
  };
};

export interface CountParams {
  /**
   * Returns the body to count, checked for the model and without its name. Throws the 400 or 422 that names the field.
   */
  validateFor(model: TextModel): Pick<TextRequest, 'body' | 'ignored'>;
}

/** Converts a body whose tokens are counted: contents alone, or a whole request. */
export const toCountParams = (
  { modelId, json }: Pick<ContentRequest, 'modelId' | 'json'>,
  alternatives: Alternatives,
): CountParams => {
  const { body: kept, ignored: before } = keepFields(countContentBody, json);
  const { model: named, contents, generateContentRequest: whole } = parseWith(countContentBody, kept);
  refuseOtherModel(named, modelId, 'model');
  if (whole && !contents) {
    const at = 'generateContentRequest.';
    refuseOtherModel(whole.model, modelId, `${at}model`);
    return {
      validateFor: (model) => {
        const { sent, ignored } = checked({ body: whole, ignored: before, alternatives }, model, at);
        return { body: { generateContentRequest: sent }, ignored };
      },
    };
  }
  if (!contents || whole)
    throw invalidRequest('contents', 'contents: cannot be combined with generateContentRequest. Send one of them.');
  return {
    validateFor: (model) => {
      const { sent, ignored } = checked({ body: { contents }, ignored: before, alternatives }, model, '');
      return { body: { contents: sent.contents }, ignored };
    },
  };
};

/**
 * The path chooses the model. A different name in the body would have no effect, so the client would get an unexpected
 * model.
 */
const refuseOtherModel = (named: string | undefined, modelId: string, param: string): void => {
  if (named === undefined || named.replace(/^models\//, '') === modelId) return;
  throw invalidRequest(param, `${param}: must be "${shownName(modelId)}" as in the path. Remove it.`);
};

const validateFor = ({ stream, ...parsed }: Parsed, model: TextModel): TextRequest => {
  const { body, alternatives } = parsed;
  if (stream && !model.capabilities.streaming) {
    const others = alternatives(({ capabilities }) => capabilities.streaming);
    throw invalidRequest('model', `model: "${model.id}" does not stream. Use :generateContent.${others}`);
  }
  const request = checked(parsed, model, '');
  const {
    candidateCount = 1,
    maxOutputTokens,
    thinkingConfig,
    imageConfig,
    responseLogprobs,
    logprobs,
  } = body.generationConfig ?? {};
  return {
    stream,
    choices: candidateCount,
    outputTokensMax: maxOutputTokens,
    usesTools: hasFunctions(body),
    effort: thinkingConfig?.thinkingLevel?.toLowerCase(),
    logprobsPerToken: responseLogprobs ? 1 + (logprobs ?? 0) : 0,
    prompt: measure(parsed, model, request),
    promptPricing: 'one-rate',
    imageTier: imageConfig?.imageSize,
    body: request.sent,
    ignored: request.ignored,
  };
};

interface Checked {
  readonly sent: JsonObject;
  readonly media: MediaSize;
  readonly ignored: readonly string[];
  /** Whether the model accepts every field. */
  readonly isWhole: boolean;
}

const checked = (
  { body, ignored: before, alternatives }: Pick<Parsed, 'body' | 'ignored' | 'alternatives'>,
  model: TextModel,
  at: string,
): Checked => {
  const ignored = new IgnoredFields(before);
  const unsent = applyConstraints(body, { model, alternatives, ignored, at });
  const media = measureMedia(body.contents, model, alternatives, `${at}contents`);
  const { model: _named, generationConfig, ...rest } = body;
  const config = Object.entries(generationConfig ?? {}).filter(([field]) => !unsent.has(field));
  return {
    sent: { ...rest, ...(generationConfig && { generationConfig: Object.fromEntries(config) }) },
    media,
    ignored: ignored.names,
    isWhole: unsent.size === 0,
  };
};

const measure = (parsed: Omit<Parsed, 'stream'>, model: TextModel, request: Checked): PromptSize => {
  const { inline, texts, ...media } = request.media;
  // A continued request makes the model read its earlier output again, up to the size of the context.
  const saidBefore = parsed.body.continuationToken === undefined ? 0 : model.limits.contextTokens;
  const ofTexts = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return {
    bytes: bytesOf(parsed, request) - charactersOf(inline) + ofTexts + saidBefore,
    textTokens:
      promptTextTokens(texts.length > 0 ? [request.sent, ...texts] : request.sent, inline, model) + saidBefore,
    hasOpaqueParts: hasOpaqueParts(request.sent),
    ...media,
  };
};

/** Ignored fields do not count. */
const bytesOf = ({ body, bodyBytes, isWhole }: Omit<Parsed, 'stream'>, { sent, ...request }: Checked): number =>
  isWhole && request.isWhole && !mayGrow(body) ? bodyBytes : Buffer.byteLength(JSON.stringify(sent));

/**
 * The gateway serializes the body again, which can make a number longer: 1e20 becomes 21 digits. Text keeps its length.
 */
const mayGrow = ({ contents, tools, generationConfig: config }: GenerateContentBody): boolean =>
  Boolean(tools ?? config?.responseSchema ?? config?.responseJsonSchema) ||
  contents.some(({ parts = [] }) =>
    parts.some((part) => part.functionCall ?? part.functionResponse ?? part.partMetadata),
  );
