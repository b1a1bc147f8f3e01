import type { ReasoningTokens } from '../../core/catalog/providers.ts';
import type { Provider } from '../../core/catalog/schema.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';

type Count = number | null | undefined;

/** Counts of OpenAI's protocols, each of which has its own names for them. */
interface ReportedCounts {
  /** Includes all tokens that were read from or written to a cache. */
  readonly prompt: Count;
  readonly completion: Count;
  readonly total: Count;
  readonly cached: Count;
  readonly cacheWrite: Count;
  readonly reasoning: Count;
}

/** Returns disjoint counts (BILL-11); undefined if the provider reported none that can be counted. */
export const toDisjointCounts = (reported: ReportedCounts, row?: ReasoningTokens): TokenUsage | undefined => {
  const { completion, cached, cacheWrite: written, reasoning } = reported;
  if ((reported.prompt ?? completion ?? undefined) === undefined) return undefined;
  const rest = restOf(reported);
  // A prompt is never empty, so a count of 0 is among the rest.
  const prompt = reported.prompt || rest;
  const beside = besideCompletion(reasoning, reported.prompt ? rest : 0, row);
  const answer = (completion ?? 0) + beside;
  const thought = Math.min(Math.max(reasoning ?? 0, beside), answer);
  const cacheRead = Math.min(cached ?? 0, prompt);
  const cacheWrite = Math.min(written ?? 0, prompt - cacheRead);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: answer - thought,
    reasoning: thought,
    ...(differs(reported, row === 'beside' ? beside : 0) && { totalDiffers: true }),
  };
};

/** Whether the total is another number than the sum of its parts. A total of 0 states nothing. */
const differs = ({ prompt, completion, total }: ReportedCounts, beside: number): boolean =>
  isCount(prompt) && isCount(completion) && Boolean(total) && total !== prompt + completion + beside;

/** Tokens that only the total includes; 0 if a part of it is unreadable. */
const restOf = ({ prompt, completion, total }: ReportedCounts): number =>
  isCount(prompt) && isCount(completion) ? Math.max(0, (total ?? 0) - prompt - completion) : 0;

const isCount = (count: Count): count is number => typeof count === 'number';

/**
 * Reasoning tokens that the completion does not include. Unless the provider's row decides, the larger reading counts:
 * tokens that only the total includes were generated too.
 */
const besideCompletion = (reasoning: Count, rest: number, row: ReasoningTokens | undefined): number => {
  switch (row) {
    case 'included':
      return 0;
    case 'beside':
      return reasoning ?? rest;
    case undefined:
      return rest;
  }
};

/** Returns where the provider's row places reasoning in its chat completions. */
export const reasoningTokensOf = (provider: Provider): ReasoningTokens | undefined =>
  'reasoningTokens' in provider ? provider.reasoningTokens : undefined;
