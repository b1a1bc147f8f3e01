import type { Catalog } from '../../core/catalog/catalog.ts';
import type { Model, TextModel } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import { utcDay } from '../../core/clock.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { pricesOf } from '../../core/images/image-price.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { type PriceExample, priceExamples } from '../../core/price-list/price-examples.ts';
import { type PublishedPrice, pricesOn, publishedPrices } from '../../core/price-list/published-prices.ts';
import { pricesAt } from '../../core/pricing/text-price.ts';
import { takesField } from '../chat-fields.ts';
import { toWireName, wireNames } from '../paid-response.ts';

const abbreviations: ReadonlySet<string> = new Set(['gpt', 'tts']);

const capital = (word: string): string =>
  abbreviations.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);

/** Display name for lists that require one, because the catalog has none: `claude-opus-5-5` is "Claude Opus 5.5". */
export const displayNameOf = (id: string): string =>
  id
    .replace(/(?<=-\d{1,2})-(?=\d{1,2}(?:-|$))/g, '.')
    .split('-')
    .map(capital)
    .join(' ');

/** Fields of chat completions in OpenRouter's `supported_parameters`, except those of `formats`. */
const fields = [
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'seed',
  'stop',
  'temperature',
  'tools',
  'top_logprobs',
  'top_p',
  'verbosity',
];

/** Fields of the list that depend on the model's capabilities. */
const formats: Readonly<Record<string, (model: TextModel) => boolean>> = {
  response_format: ({ capabilities: { jsonObject, jsonSchema } }) => jsonObject || jsonSchema,
  structured_outputs: ({ capabilities }) => capabilities.jsonSchema,
  tool_choice: ({ capabilities }) => capabilities.tools,
};

/** Sorted. Empty for a model that chat completions do not support. */
export const supportedParametersOf = (model: Model): readonly string[] => {
  const callable = textModelOf(model);
  if (!callable?.protocols.includes('chat_completions')) return [];
  const taken = fields.filter((field) => takesField(field, callable));
  const formatted = Object.entries(formats).flatMap(([name, takes]) => (takes(callable) ? [name] : []));
  return [...taken, ...formatted].sort();
};

/** Model with the prices of all periods, and examples at the current ones (CAT-2). */
export const toEntry = (catalog: Catalog, model: Model, nowMs: number) => ({
  id: model.id,
  kind: model.kind,
  owned_by: model.ownedBy,
  protocols: model.protocols,
  prices: publishedPrices(model).map(toPrice),
  examples: priceExamples(model, catalog.priceRow(model, nowMs)).map(toExample),
  limits: limitsOf(model),
  capabilities: 'capabilities' in model ? snakeCased(model.capabilities) : {},
  reasoning: { levels: model.kind === 'text' ? (model.reasoning?.levelsUi ?? []) : [] },
  lifecycle: { shutdown_date: model.lifecycle.shutdownDate, replacement: model.lifecycle.replacement ?? null },
});

const limitsOf = (model: Model): object => {
  if ('limits' in model) return snakeCased(model.limits);
  switch (model.kind) {
    case 'video': {
      const { seconds, sizes, inputReference } = model.video;
      return { seconds, sizes, input_reference: inputReference };
    }
    case 'image': {
      const { size, nMax, references, responseFormatDefault, promptCharactersMax } = model.image;
      const { max, fields, form } = references;
      const shown = { size: snakeCased(size), n_max: nMax, references: { max, fields, form } };
      return { ...shown, response_format_default: responseFormatDefault, prompt_characters_max: promptCharactersMax };
    }
    case 'speech':
      return snakeCased(model.speech);
    case 'transcription':
      return { formats: model.transcription.formats };
    default:
      return {};
  }
};

/** Price with the names and units of receipts. */
export const toPrice = ({ protocols, from, until, when, prices }: PublishedPrice) => ({
  protocols,
  from,
  until,
  when: snakeCased(when),
  prices_usd: wireNames(prices, formatUsd),
});

const toExample = ({ picos, ...example }: PriceExample) => ({ ...example, usd: formatUsd(picos) });

const snakeCased = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [toWireName(name), member]));

type Picos = Readonly<Record<string, bigint>>;

/** OpenRouter's price names, by the names in charge records. All are USD per token. */
const pricingNames: Readonly<Record<string, string>> = {
  input: 'prompt',
  output: 'completion',
  cacheRead: 'input_cache_read',
  cacheWrite: 'input_cache_write',
  cacheWrite1h: 'input_cache_write_1h',
  audioInput: 'audio',
  imageInput: 'image_token',
  imageOutput: 'image_output',
};

/** OpenRouter's `pricing`: the prices of a request that arrives now, including the markup. */
export const toPricing = (catalog: Catalog, model: Model, nowMs: number): object => {
  const text = textModelOf(model);
  if (text) return toTextPricing(catalog, text, nowMs);
  const tokens = tokenPrices(catalog, model, nowMs);
  if (tokens) return toMembers(tokens);
  // OpenRouter requires both members. The other prices have the form of GET /api/models.
  return { ...toMembers({ input: 0n, output: 0n }), prices: pricesOn(model, utcDay(nowMs)).map(toPrice) };
};

/** A tier applies above its bound, just as an entry of `overrides` applies above `min_prompt_tokens`. */
const toTextPricing = (catalog: Catalog, model: TextModel, nowMs: number): object => {
  const row = catalog.priceRow(model, nowMs);
  const priced = (promptTokens: number): object => toMembers(textPrices(model, row, promptTokens));
  const overrides = row.tiers.map(({ aboveInputTokens: bound }) => ({
    min_prompt_tokens: bound,
    ...priced(bound + 1),
  }));
  return { ...priced(0), ...(overrides.length > 0 && { overrides }) };
};

/** Only the messages format has cache rates (BILL-12). In others all prompt tokens cost the same (BILL-18). */
const textPrices = (model: TextModel, row: TextModel['prices'][number], promptTokens: number): Picos => {
  if (model.protocols.includes('messages')) return pricesAt(row, promptTokens, 'cache-rates-1h');
  const { cacheWrite1h: _, ...prices } = pricesAt(row, promptTokens, 'one-rate');
  return prices;
};

/** Undefined if the model has a price other than one rate per kind of token. */
const tokenPrices = (catalog: Catalog, model: Model, nowMs: number): Picos | undefined => {
  switch (model.kind) {
    case 'embedding':
    case 'moderation':
      return { input: catalog.priceRow(model, nowMs).rates.input, output: 0n };
    case 'image': {
      const row = catalog.priceRow(model, nowMs);
      return row.unit === '1M_tokens' ? pricesOf(row) : undefined;
    }
    case 'transcription': {
      const row = catalog.priceRow(model, nowMs);
      if (row.unit !== '1M_tokens') return undefined;
      const { textInput: input, textOutput: output, audioInput } = row.rates;
      return { input, output, audioInput };
    }
    default:
      return undefined;
  }
};

const toMembers = (prices: Picos): Record<string, string> =>
  Object.fromEntries(
    Object.entries(prices).flatMap(([counted, picos]) => {
      const name = pricingNames[counted];
      return name === undefined ? [] : [[name, formatUsd(picos)]];
    }),
  );

/**
 * OpenAI's model object (https://platform.openai.com/docs/api-reference/models/object) with the members that
 * OpenRouter's clients read (https://openrouter.ai/docs/models; types of PyPI openrouter 1.3.84, 2026-11).
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

/**
 * OpenRouter's names of output modalities, where they differ from OpenAI's `text`. Its clients offer models with `text`
 * for chat completions.
 */
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

export type Query = Readonly<Record<string, string | undefined>>;

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Whole number in the query. Undefined if it is absent. Throws the 400 that names the parameter. */
export const readCount = (query: Query, param: string, { min, max }: Bounds): number | undefined => {
  const text = query[param];
  if (text === undefined || text === '') return undefined;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (count >= min && count <= max) return count;
  throw invalidRequest(param, `${param}: must be a whole number from ${min} to ${max}.`);
};

/** Position of a client's cursor. Throws the 400, because a model can disappear after its page was sent. */
export const indexOfCursor = (ids: readonly string[], id: string, param: string): number => {
  const index = ids.indexOf(id);
  if (index >= 0) return index;
  throw invalidRequest(param, `${param}: not the id of a model in this list. Start from the first page.`);
};

/** https://platform.claude.com/docs/en/api/models/list: 20 models per page by default, latest model first. */
const pageBounds = { min: 1, max: 1_000 };
const MESSAGES_PAGE_DEFAULT = 20;

export const toMessagesPage = (models: readonly TextModel[], query: Query) => {
  const latestFirst = models.toSorted((one, other) => other.created - one.created);
  const { from, to, hasMore } = sliceOf(
    latestFirst.map(({ id }) => id),
    query,
  );
  const page = latestFirst.slice(from, to);
  return {
    data: page.map(toMessagesModel),
    has_more: hasMore,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
};

const sliceOf = (ids: readonly string[], query: Query) => {
  const limit = readCount(query, 'limit', pageBounds) ?? MESSAGES_PAGE_DEFAULT;
  const { before_id: before, after_id: after } = query;
  if (before && after)
    throw invalidRequest('before_id', 'before_id: cannot be combined with after_id. Send one of them.');
  if (before) {
    const to = indexOfCursor(ids, before, 'before_id');
    const from = Math.max(0, to - limit);
    return { from, to, hasMore: from > 0 };
  }
  const from = after ? indexOfCursor(ids, after, 'after_id') + 1 : 0;
  const to = Math.min(ids.length, from + limit);
  return { from, to, hasMore: to < ids.length };
};

/** Converts a day (to its midnight) or Unix seconds. Omits the fraction, which is unknown. */
const toInstant = (at: number | string): string =>
  new Date(typeof at === 'number' ? at * 1_000 : at).toISOString().replace('.000Z', 'Z');

/**
 * The provider's ModelInfo, as its SDK 1.11.0 types it. Values that the catalog lacks are null: the model line, which
 * the id does not show reliably, and the day on which the shutdown was announced.
 */
export const toMessagesModel = (model: TextModel) => {
  const { id, created, limits, lifecycle } = model;
  const ends = lifecycle.shutdownDate;
  return {
    type: 'model',
    id,
    display_name: displayNameOf(id),
    created_at: toInstant(created),
    line: null,
    lifecycle: ends === null ? 'active' : 'deprecated',
    deprecated_at: null,
    retires_at: ends === null ? null : toInstant(ends),
    max_input_tokens: limits.inputTokensMax ?? limits.contextTokens,
    max_tokens: limits.outputTokensMax,
    capabilities: toCapabilities(model),
  };
};

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
const support = (supported: boolean) => ({ supported });
const none = support(false);

/** Capabilities that the gateway supports, which are fewer than the provider's. */
const toCapabilities = ({ capabilities, reasoning, thinking }: TextModel) => {
  const steps = reasoning?.field === 'output_config.effort' ? reasoning.accepted : [];
  return {
    batch: none,
    citations: support(true),
    code_execution: none,
    context_management: {
      ...support(true),
      clear_thinking_20251015: support(thinking !== undefined),
      clear_tool_uses_20250919: support(capabilities.tools),
      compact_20260112: null,
    },
    effort: {
      ...support(steps.length > 0),
      ...Object.fromEntries(efforts.map((step) => [step, support(steps.includes(step))])),
    },
    image_input: support(capabilities.vision),
    pdf_input: support(capabilities.vision),
    server_tools: { ...none, code_execution: none, web_search: none },
    structured_outputs: support(capabilities.jsonSchema),
    thinking: {
      ...support(thinking !== undefined),
      types: {
        adaptive: support(thinking?.adaptive ?? false),
        between_tools: support(thinking?.betweenTools ?? false),
        disabled: support(thinking?.canDisable ?? true),
        enabled: support(thinking?.manualBudget ?? false),
      },
    },
  };
};

/** https://ai.google.dev/api/models#method:-models.list: 50 models per page by default or for 0, and at most 1000. */
const GOOGLE_PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;

export const toGooglePage = (models: readonly TextModel[], query: Query) => {
  const size = readCount(query, 'pageSize', { min: 0, max: 2 ** 31 - 1 }) || GOOGLE_PAGE_DEFAULT;
  const { pageToken } = query;
  const ids = models.map(({ id }) => id);
  const from = pageToken ? indexOfCursor(ids, toCursor(pageToken), 'pageToken') + 1 : 0;
  const page = models.slice(from, from + Math.min(size, PAGE_MAX));
  const last = page.at(-1);
  const hasMore = from + page.length < models.length;
  return { models: page.map(toGoogleModel), ...(last && hasMore ? { nextPageToken: toToken(last) } : {}) };
};

const toToken = ({ id }: TextModel): string => Buffer.from(id).toString('base64url');

const toCursor = (token: string): string => Buffer.from(token, 'base64url').toString();

/** https://ai.google.dev/api/models#Model. The version is the number in the name, as in the provider's own list. */
export const toGoogleModel = ({ id, limits, reasoning }: TextModel) => ({
  name: `models/${id}`,
  version: /(?<=-)\d+(?:\.\d+)?/.exec(id)?.[0] ?? '',
  displayName: displayNameOf(id),
  inputTokenLimit: limits.inputTokensMax ?? limits.contextTokens,
  outputTokenLimit: limits.outputTokensMax,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
  thinking: reasoning !== null,
});
