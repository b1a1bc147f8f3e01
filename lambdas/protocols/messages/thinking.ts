import type { TextModel } from '../../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { Alternatives } from '../alternatives.ts';
import type { PromptBody } from './body.ts';

type Thinking = NonNullable<PromptBody['thinking']>;
type Abilities = NonNullable<TextModel['thinking']>;

/** Smallest budget in tokens that the provider accepts. The cap must be above it. */
const SMALLEST_BUDGET = 1_024;

/** Rejects a frequent mistake with its fix (MSG-4). */
export const refuseEffortInThinking = ({ thinking }: JsonObject): void => {
  if (!isJsonObject(thinking) || (thinking.effort ?? undefined) === undefined) return;
  throw invalidRequest('thinking.effort', 'thinking.effort: not a field of thinking. Use output_config.effort.');
};

const accepts: Record<Thinking['type'], (thinking: Abilities | undefined) => boolean> = {
  adaptive: (thinking) => thinking?.adaptive === true,
  enabled: (thinking) => thinking?.manualBudget === true,
  /** Also accepted for models that never think. */
  disabled: (thinking) => thinking?.canDisable !== false,
  between_tools: (thinking) => thinking?.betweenTools === true,
};

/** Rejects thinking that the model does not support (MSG-2). */
export const refuseThinking = (
  { thinking, max_tokens: cap }: PromptBody,
  model: TextModel,
  alternatives: Alternatives,
): void => {
  if (!thinking) return;
  const { type } = thinking;
  if (!accepts[type](model.thinking)) {
    const others = alternatives((other) => accepts[type](other.thinking));
    throw refusal('type', `"${type}" is not supported with "${model.id}".${insteadOf(model)}${others}`);
  }
  if (thinking.type !== 'enabled' || cap === undefined || thinking.budget_tokens < cap) return;
  throw refusal('budget_tokens', `must be below max_tokens (${cap}).`);
};

const refusal = (member: string, message: string): GatewayError =>
  invalidRequest(`thinking.${member}`, `thinking.${member}: ${message}`);

const insteadOf = ({ thinking, reasoning }: TextModel): string => {
  const supported = Object.entries(accepts).filter(([, accept]) => accept(thinking));
  const allowed = supported.map(([type]) => `"${type}"`).join(' and ');
  const depth = reasoning?.field === 'output_config.effort' ? ' Use output_config.effort instead.' : '';
  return ` It accepts ${allowed}.${depth}`;
};

/**
 * Whether the model's name turns thinking on (MSG-3). The provider rejects thinking beside a tool choice that requires a
 * call: https://github.com/mastra-ai/mastra/issues/7507 (2025-09-05).
 */
export const thinksByName = ({ model: name, thinking, tool_choice: choice }: PromptBody, model: TextModel): boolean => {
  const suffix = model.thinking?.suffix;
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  return !thinking && !isForced && suffix !== undefined && name === `${model.id}${suffix}`;
};

/** Thinking that the model's name turns on. Undefined if the client sent `thinking` itself, or requires a call. */
export const thinkingByName = (body: PromptBody, model: TextModel): JsonObject | undefined => {
  if (!thinksByName(body, model)) return undefined;
  const { model: name, max_tokens: cap } = body;
  if (model.thinking?.adaptive) return { type: 'adaptive', display: 'summarized' };
  // A limit of 0 generates nothing.
  if (cap === 0) throw invalidRequest('max_tokens', `max_tokens: must be above 0 with "${name}". Raise it.`);
  return { type: 'enabled', budget_tokens: Math.max(SMALLEST_BUDGET, Math.floor((cap ?? 0) / 2)) };
};
