import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { displayNameOf } from './display-name.ts';
import { indexOfCursor, type Query, readCount } from './pages.ts';

/** https://platform.claude.com/docs/en/api/models/list: 20 a page if nothing is said, the latest model first. */
const pageBounds = { min: 1, max: 1_000 };
const PAGE_DEFAULT = 20;

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
  const limit = readCount(query, 'limit', pageBounds) ?? PAGE_DEFAULT;
  const { before_id: before, after_id: after } = query;
  if (before && after) throw invalidRequest('before_id', 'before_id: send either this or after_id, not both.');
  if (before) {
    const to = indexOfCursor(ids, before, 'before_id');
    const from = Math.max(0, to - limit);
    return { from, to, hasMore: from > 0 };
  }
  const from = after ? indexOfCursor(ids, after, 'after_id') + 1 : 0;
  const to = Math.min(ids.length, from + limit);
  return { from, to, hasMore: to < ids.length };
};

/** Midnight of a day or a Unix second, without the fraction that nobody knows. */
const toInstant = (at: number | string): string =>
  new Date(typeof at === 'number' ? at * 1_000 : at).toISOString().replace('.000Z', 'Z');

/**
 * The vendor's ModelInfo, as its SDK 1.11.0 types it. What the catalog does not know is null: a line of models, which must not be
 * read from an id, and the day on which an end was announced.
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

/** What this service serves of a model, which is less than its vendor does. */
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
