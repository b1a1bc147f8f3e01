import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { ModelFacts } from './model-facts.ts';
import type { MessagesRequest } from './request.ts';

/**
 * Rules that depend on the model. The messages are the provider's, as users reported them, if they are recorded:
 * https://github.com/altic-dev/FluidVoice/issues/285, https://github.com/can1357/oh-my-pi/issues/12939,
 * https://github.com/Kilo-Org/kilocode/issues/12526, https://github.com/androoAGI/starnet/issues/32,
 * https://github.com/anthropics/claude-code/issues/82389, https://github.com/mnfst/llm-gateway/pull/1928,
 * https://github.com/TauricResearch/TradingAgents/issues/831, https://github.com/mastra-ai/mastra/issues/7507,
 * https://github.com/ProfSynapse/nexus/issues/17, https://github.com/BerriAI/litellm/issues/3286.
 */
export const modelRules: readonly ((request: MessagesRequest, facts: ModelFacts) => VendorRefusal | undefined)[] = [
  refuseCap,
  refuseSampling,
  refuseThinkingType,
  refuseBudget,
  refuseEffort,
  refuseToolChoice,
  refuseStopSequences,
  refuseUserId,
];

function refuseCap({ max_tokens: cap, model }: MessagesRequest, facts: ModelFacts): VendorRefusal | undefined {
  const limit = facts.outputTokensMax;
  if (cap <= limit) return undefined;
  const words = `max_tokens: ${cap} > ${limit}, which is the maximum allowed number of output tokens for ${model}`;
  return anthropicError(400, words);
}

/**
 * Accepts the default `temperature` and `top_p` even on models that no longer have these fields:
 * https://github.com/expectedparrot/edsl/issues/2458.
 */
function refuseSampling(request: MessagesRequest, facts: ModelFacts): VendorRefusal | undefined {
  const { temperature, top_p, top_k, thinking } = request;
  if (!facts.sampling) {
    const changed = { temperature: temperature ?? 1, top_p: top_p ?? 1, top_k: top_k === undefined ? 1 : 0 };
    const field = Object.entries(changed).find(([, value]) => value !== 1)?.[0];
    return field === undefined ? undefined : anthropicError(400, `\`${field}\` is deprecated for this model.`);
  }
  if (temperature !== undefined && top_p !== undefined) {
    const words = '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
    return anthropicError(400, words);
  }
  if (thinking?.type !== 'enabled') return undefined;
  if ((temperature ?? 1) !== 1)
    return anthropicError(400, '`temperature` may only be set to 1 when thinking is enabled.');
  if ((top_p ?? 1) < 0.95)
    return anthropicError(400, '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.');
  return top_k === undefined ? undefined : anthropicError(400, '`top_k` must be unset when thinking is enabled.');
}

function refuseThinkingType({ thinking }: MessagesRequest, facts: ModelFacts): VendorRefusal | undefined {
  if (thinking === undefined || facts.thinkingTypes.includes(thinking.type)) return undefined;
  if (thinking.type === 'adaptive') return anthropicError(400, 'adaptive thinking is not supported on this model');
  const instead =
    thinking.type === 'disabled' && facts.thinkingTypes.includes('between_tools')
      ? 'To turn thinking off on this model, send "thinking": {"type": "between_tools"}.'
      : 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  return anthropicError(400, `"thinking.type.${thinking.type}" is not supported for this model. ${instead}`);
}

function refuseBudget({ thinking, max_tokens: cap }: MessagesRequest): VendorRefusal | undefined {
  if (thinking?.type !== 'enabled' || thinking.budget_tokens < cap) return undefined;
  const page = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size';
  const words = '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at';
  return anthropicError(400, `${words} ${page}`);
}

function refuseEffort({ thinking, output_config }: MessagesRequest, facts: ModelFacts): VendorRefusal | undefined {
  const effort = output_config?.effort ?? undefined;
  if (effort === undefined) return undefined;
  if (facts.effortDefault === undefined) {
    return anthropicError(400, 'This model does not support the effort parameter.');
  }
  const tooMuch = facts.effortNeedsThinking && (effort === 'xhigh' || effort === 'max');
  if (thinking?.type !== 'disabled' || !tooMuch) return undefined;
  const words = `output_config.effort '${effort}' is not supported when thinking is disabled on this model.`;
  return anthropicError(400, `${words} Use effort 'high' or below, or enable thinking.`);
}

function refuseToolChoice(request: MessagesRequest, facts: ModelFacts): VendorRefusal | undefined {
  const { tool_choice: choice, tools = [], thinking } = request;
  if (choice === undefined) return undefined;
  if (tools.length === 0) return anthropicError(400, 'tool_choice may only be specified while providing tools.');
  if (choice.type !== 'any' && choice.type !== 'tool') return undefined;
  if (!facts.forcedTools) {
    return anthropicError(400, 'tool_choice: type "tool" and "any" are not supported for this model.');
  }
  if (thinking?.type === 'enabled' || thinking?.type === 'adaptive') {
    return anthropicError(400, 'Thinking may not be enabled when tool_choice forces tool use.');
  }
  if (choice.type === 'any' || tools.some(({ name }) => name === choice.name)) return undefined;
  return anthropicError(400, `tool_choice: Tool '${choice.name}' not found in provided tools`);
}

function refuseStopSequences({ stop_sequences: stops = [] }: MessagesRequest): VendorRefusal | undefined {
  if (stops.every((stop) => stop.trim() !== '')) return undefined;
  return anthropicError(400, 'stop_sequences: each stop sequence must contain non-whitespace');
}

/** Source: https://github.com/BerriAI/litellm/pull/11432 */
function refuseUserId({ metadata }: MessagesRequest): VendorRefusal | undefined {
  if (!/\S@\S+\.\S/.test(metadata?.user_id ?? '')) return undefined;
  return anthropicError(400, 'metadata.user_id: user_id appears to contain an email address');
}
