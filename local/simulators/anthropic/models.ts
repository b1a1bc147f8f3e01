import { jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { anthropicError, anthropicErrorFrame, anthropicRefusal } from './error.ts';
import { anthropicHeaders, hasApiKey, versionOf } from './headers.ts';
import { type Effort, findModel, listModels, type ModelFacts, type ThinkingType } from './model-facts.ts';

/** Source: https://platform.claude.com/docs/en/api/models-list. */

const shared = {
  method: 'GET',
  isAuthorized: hasApiKey,
  lastUserText: () => '',
  errorFrame: anthropicErrorFrame,
  headers: anthropicHeaders,
} satisfies Partial<Wire>;

export const anthropicModels: Wire = {
  ...shared,
  path: /^\/v1\/models$/,
  refuse: (refusal, { headers }) => anthropicRefusal(refusal, headers, ''),
  answer({ headers, query }) {
    versionOf(headers);
    const models = pageOf(listModels(), query);
    return jsonAnswer({
      data: models.page.map(toModelInfo),
      has_more: models.more,
      first_id: models.page.at(0)?.id ?? null,
      last_id: models.page.at(-1)?.id ?? null,
    });
  },
};

export const anthropicModel: Wire = {
  ...shared,
  path: /^\/v1\/models\/[^/]+$/,
  refuse: (refusal, request) => anthropicRefusal(refusal, request.headers, nameIn(request)),
  answer(request) {
    versionOf(request.headers);
    const name = nameIn(request);
    const facts = findModel(name);
    if (facts === undefined) throw anthropicError(404, `model: ${name}`);
    return jsonAnswer(toModelInfo(facts));
  },
};

function nameIn({ path }: WireRequest): string {
  return decodeURIComponent(path.split('/').at(-1) ?? '');
}

function pageOf(models: readonly ModelFacts[], query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? '20');
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw anthropicError(400, 'limit: Input should be between 1 and 1000');
  }
  const after = models.findIndex(({ id }) => id === query.get('after_id'));
  const before = models.findIndex(({ id }) => id === query.get('before_id'));
  const end = before < 0 ? models.length : before;
  const from = query.has('before_id') ? Math.max(0, end - limit) : after + 1;
  const to = Math.min(end, from + limit);
  return { page: models.slice(from, to), more: query.has('before_id') ? from > 0 : to < models.length };
}

const efforts: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const thinkingTypes: readonly ThinkingType[] = ['adaptive', 'between_tools', 'disabled', 'enabled'];

function toModelInfo(facts: ModelFacts) {
  const supported = (value: boolean) => ({ supported: value });
  const each = (names: readonly string[], isIn: (name: string) => boolean) =>
    Object.fromEntries(names.map((name) => [name, supported(isIn(name))]));
  const hasEffort = facts.effortDefault !== undefined;
  return {
    type: 'model',
    id: facts.id,
    display_name: facts.displayName,
    created_at: facts.createdAt,
    line: facts.line,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: facts.contextTokens,
    max_tokens: facts.outputTokensMax,
    capabilities: {
      ...{ batch: supported(false), citations: supported(false), code_execution: supported(false) },
      context_management: {
        ...supported(false),
        ...{ clear_thinking_20251015: null, clear_tool_uses_20250919: null, compact_20260112: null },
      },
      effort: { ...supported(hasEffort), ...each(efforts, () => hasEffort) },
      ...{ image_input: supported(true), pdf_input: supported(true), structured_outputs: supported(true) },
      server_tools: { ...supported(false), code_execution: supported(false), web_search: supported(false) },
      thinking: {
        ...supported(true),
        types: each(thinkingTypes, (name) => facts.thinkingTypes.some((type) => type === name)),
      },
    },
  };
}
