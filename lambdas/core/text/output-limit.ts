import { HOLD_MAX_PICOS } from '../paid-call/preflight.ts';
import { affordableAnswerTokens, maximumPrice } from '../pricing/text-price.ts';
import { readableTokens } from './answer-size.ts';
import type { CheckedText } from './text-candidates.ts';

/** Efforts whose reasoning alone can use up the default limit, so that the response has no text. */
const longEfforts: ReadonlySet<string | undefined> = new Set(['high', 'xhigh', 'max']);

/** Part of the available amount that one such request may hold, so that several can run at the same time. */
const SHARE = 4n;

/**
 * Returns the output limit of each choice that the gateway sends if the client set none (BILL-6): the entry's default, or
 * a higher one for a high effort. `availablePicos` is what the account is known to have available; undefined if it is not
 * known.
 */
export const chooseOutputLimit = (
  { model: { limits }, request, row }: Pick<CheckedText, 'model' | 'request' | 'row'>,
  promptTokens: number,
  availablePicos: bigint | undefined,
): number => {
  const { choices, effort, promptPricing, logprobsPerToken = 0 } = request;
  if (availablePicos === undefined || !longEfforts.has(effort)) return limits.outputTokensDefault;
  const promptPicos = maximumPrice(row, promptTokens, 0, promptPricing);
  const paidBy = (picos: bigint): number => affordableAnswerTokens(row, promptTokens, picos, promptPricing);
  const all = Math.min(
    paidBy(promptPicos + availablePicos / SHARE),
    paidBy(HOLD_MAX_PICOS),
    request.stream ? Number.POSITIVE_INFINITY : readableTokens(logprobsPerToken),
  );
  return Math.max(limits.outputTokensDefault, Math.min(limits.outputTokensMax, Math.floor(all / choices)));
};
