import type { Composed } from '../compose.ts';
import type { ClaimedUsage } from '../scenario.ts';
import type { CacheCount } from './prompt-cache.ts';

export type UsageFacts = {
  /** Whole prompt, cached or not. */
  readonly promptTokens: number;
  readonly cache: CacheCount;
  readonly composed: Composed;
  readonly claimed?: ClaimedUsage;
  readonly inferenceGeo?: string | null;
};

/** Anthropic's usage: `input_tokens` excludes cache reads and cache writes. */
export function toUsage({ promptTokens, cache, composed, claimed = {}, inferenceGeo }: UsageFacts) {
  const { read, written5m, written1h } = cache;
  const blockedAtOnce = composed.ending === 'blocked' && composed.content.length === 0;
  const thinking = blockedAtOnce ? 0 : composed.reasoningTokens;
  return {
    input_tokens: claimed.input ?? promptTokens - read - written5m - written1h,
    cache_creation_input_tokens: written5m + written1h,
    cache_read_input_tokens: claimed.cached ?? read,
    cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
    output_tokens: claimed.output ?? (blockedAtOnce ? 0 : composed.outputTokens),
    output_tokens_details: { thinking_tokens: claimed.reasoning ?? thinking },
    server_tool_use: null,
    service_tier: 'standard',
    speed: 'standard',
    inference_geo: inferenceGeo ?? 'global',
  };
}

export type Usage = ReturnType<typeof toUsage>;
