import type { Catalog } from '../../core/catalog/catalog.ts';
import type { Model } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import { displayNameOf } from './display-name.ts';
import { supportedParametersOf } from './parameters.ts';
import { toPricing } from './pricing.ts';

/**
 * OpenAI's model (https://platform.openai.com/docs/api-reference/models/object) with the members that OpenRouter's clients read
 * (https://openrouter.ai/docs/models; types of PyPI openrouter 1.3.84, 2026-11).
 */
export const toOpenAiModel = (catalog: Catalog, model: Model, nowMs: number) => {
  const { id, created, ownedBy, kind, lifecycle } = model;
  const limits = textModelOf(model)?.limits;
  const contextLength = limits?.contextTokens ?? (kind === 'embedding' ? model.limits.contextTokens : null);
  return {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    name: displayNameOf(id),
    canonical_slug: id,
    context_length: contextLength,
    architecture: toArchitecture(model),
    pricing: toPricing(catalog, model, nowMs),
    top_provider: {
      context_length: contextLength,
      max_completion_tokens: limits?.outputTokensMax ?? null,
      // The gateway does not send prompts to a moderation model.
      is_moderated: false,
    },
    supported_parameters: supportedParametersOf(model),
    supported_voices: kind === 'speech' ? model.speech.voices : null,
    default_parameters: null,
    per_request_limits: null,
    expiration_date: lifecycle.shutdownDate,
    links: { details: `/v1/models/${id}` },
  };
};

/** OpenRouter's names of output modalities that are not OpenAI's text. Its clients offer models with `text` for chats. */
const outputsByKind: Partial<Record<Model['kind'], readonly string[]>> = {
  embedding: ['embeddings'],
  speech: ['speech'],
  transcription: ['transcription'],
};

const tokenizers: Readonly<Record<string, string>> = { openai: 'GPT', anthropic: 'Claude', google: 'Gemini' };

const toArchitecture = ({ kind, company, inputTypes, outputTypes }: Model) => {
  const outputs = outputsByKind[kind] ?? outputTypes;
  return {
    modality: `${inputTypes.join('+')}->${outputs.join('+')}`,
    input_modalities: inputTypes,
    output_modalities: outputs,
    tokenizer: tokenizers[company] ?? 'Other',
    instruct_type: null,
  };
};
