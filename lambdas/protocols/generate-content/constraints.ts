import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { type Entry, type OptionalField, unsupported, withoutUnsupported } from '../optional-fields.ts';
import type { GenerateContentBody } from './body.ts';
import type { GenerationConfig } from './config.ts';

/** Not the sampling fields: those always reach the vendor (GEM-1). */
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

/** GEN-11. Refuses what the entry does not support; answers the names of fields of generationConfig that are not to be sent. */
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

/** As CHAT-3 has it for n. */
const refuseCandidates = ({ candidateCount = 1 }: GenerationConfig, { model, alternatives, at = '' }: Entry): void => {
  if (candidateCount === 1 || model.capabilities.multipleChoices) return;
  const param = `${at}generationConfig.candidateCount`;
  const others = alternatives(({ capabilities }) => capabilities.multipleChoices);
  const message = `${param}: "${model.id}" gives one answer at a time. Send 1.${others}`;
  throw new GatewayError('unprocessable_entity', message, { param });
};

/** What only models that draw take, and the sizes that have a price (IMG-8). */
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
    throw invalidRequest(param, `${param}: "${id}" draws no images. Leave it out.${others}`);
  }
  const { imageSize } = imageConfig ?? {};
  if (imageSize === undefined || sizes.includes(imageSize)) return;
  const param = `${at}generationConfig.imageConfig.imageSize`;
  const allowed = sizes.map((size) => JSON.stringify(size)).join(', ');
  throw invalidRequest(param, `${param}: must be one of ${allowed} with "${id}".`);
};
