import type { Composed } from '../compose.ts';
import type { Call } from './call.ts';
import type { Model } from './models.ts';
import type { GenerateRequest } from './request.ts';

/**
 * Maximum output tokens of one request to Gemini 4, by framing. A client fetches the rest of a longer response with the
 * token of the previous request. Source:
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-argon
 */
const requestLimits: Readonly<Record<Call['framing'], number>> = { plain: 32_768, sse: 65_536, array: 65_536 };

export type OutputLimits = {
  /** Tokens of the previous requests. */
  readonly spoken: number;
  readonly cap: number;
  /** Whether the client set the limit. */
  readonly isClients: boolean;
};

export function limitsOf(
  request: GenerateRequest,
  { id, outputTokenLimit }: Model,
  framing: Call['framing'],
): OutputLimits {
  const spoken = fromToken(request.continuationToken);
  const wanted = (request.generationConfig?.maxOutputTokens ?? Number.POSITIVE_INFINITY) - spoken;
  const canContinue = id.startsWith('gemini-4-');
  const limit = canContinue ? requestLimits[framing] : outputTokenLimit;
  return { spoken, cap: Math.max(0, Math.min(wanted, limit)), isClients: !canContinue || wanted <= limit };
}

/** Returns the rest of a response after this many tokens. */
export function continueFrom(spoken: number, composed: Composed): Composed {
  if (spoken === 0) return composed;
  const content = composed.content.slice(Math.max(0, spoken - composed.reasoningTokens));
  return { ...composed, content, reasoningTokens: 0, outputTokens: content.length };
}

export function tokenFor(spoken: number): string {
  return Buffer.from(`continue-${spoken}`).toString('base64');
}

function fromToken(token: string | undefined): number {
  const [, spoken] = /^continue-(\d+)$/.exec(Buffer.from(token ?? '', 'base64').toString()) ?? [];
  return Number(spoken ?? 0);
}
