import type { HoldParams } from '../ledger/hold.ts';
import type { Caller } from '../paid-call/dependencies.ts';
import { isAboveBudget, refuseAboveBudget } from '../paid-call/preflight.ts';
import type { Settlement } from '../paid-call/settle.ts';
import { promptTokensOf } from '../pricing/charge.ts';
import { factorFor } from '../pricing/estimate-factor.ts';
import { affordableAnswerTokens, chargeFor, imageTokensOf, maximumPrice } from '../pricing/text-price.ts';
import { chooseOutputLimit } from './output-limit.ts';
import type { CheckedText } from './text-candidates.ts';
import { promptTokensPlausible } from './token-estimate.ts';

/** Smallest output limit that the gateway offers (BILL-6). */
const SMALLEST_CAP = 256;
/** Smallest output limit that an error suggests. Some providers reject a lower one. */
const SUGGESTED_CAP_MIN = 16;
/** Tokens by which an output limit that the client adds to its body can raise the estimate of the prompt. */
const ADDED_CAP_TOKENS = 64;

/** Hold of a request for text, and the output limit that follows from it. */
export interface TextHold {
  readonly order: Pick<HoldParams, 'amountPicos' | 'smaller' | 'advice' | 'reduction' | 'outputLimit'>;
  /** Returns the output limit of the current hold. It decreases after `smaller`. */
  readonly cap: () => number;
  /** Returns the output limit if the gateway chose it, because the client set none or one below the provider's minimum. */
  readonly chosenCap: () => number | undefined;
  /** Prompt tokens of the hold, and the factor on their estimate that they include. */
  readonly promptTokens: number;
  readonly factor: number;
}

/**
 * Computes the hold of a request. Throws `request_budget_exceeded` (BILL-4). `capParam` is the name of the output limit
 * in the client's protocol. `factor` multiplies the estimate of the prompt, unless the hold would then exceed the budget
 * (BILL-20). `seenPicos` is what this process last saw available; undefined if it does not know (BILL-6).
 */
export const priceText = (checked: CheckedText, capParam: string, factor = 1, seenPicos?: bigint): TextHold => {
  const {
    model,
    request,
    row,
    promptTokens,
    call: { outputTokensMin = 0 },
  } = checked;
  const { promptPricing, choices, imageTier } = request;
  const imageTokens = imageTokensOf(row, imageTier);
  const price = (tokens: number, cap: number) => maximumPrice(row, tokens, cap * choices, promptPricing, imageTokens);
  const raisedTokens = Math.min(Math.ceil(promptTokens * factor), model.limits.contextTokens);
  const asked = request.outputTokensMax ?? chooseOutputLimit(checked, raisedTokens, seenPicos);
  let cap = Math.max(asked, outputTokensMin);
  const isRaised = !isAboveBudget(price(raisedTokens, cap));
  const heldTokens = isRaised ? raisedTokens : promptTokens;
  const amountPicos = price(heldTokens, cap);
  refuseAboveBudget(amountPicos, capParam, `reduce ${capParam} or split the request`);
  // An amount that is not available is within the budget, so the raised estimate always applies to a smaller hold.
  const affordableAt = (availablePicos: bigint, tokens = raisedTokens): number =>
    Math.max(0, Math.floor(affordableAnswerTokens(row, tokens, availablePicos, promptPricing) / choices));
  const smaller = (availablePicos: bigint, outputTokensMax = cap): bigint | undefined => {
    // The refusal shows what is available, of which a high effort must not take all.
    const chosen = chooseOutputLimit(checked, raisedTokens, availablePicos);
    const affordable = Math.min(affordableAt(availablePicos), outputTokensMax, chosen);
    if (affordable < Math.max(SMALLEST_CAP, outputTokensMin) + imageTokens || affordable >= cap) return undefined;
    cap = affordable;
    return price(raisedTokens, affordable);
  };
  const isOurs = request.outputTokensMax === undefined;
  const addedTokens = isOurs ? Math.ceil(ADDED_CAP_TOKENS * factor) : 0;
  const suggestedAt = (availablePicos: bigint, tokens = raisedTokens): number =>
    Math.min(affordableAt(availablePicos, tokens), model.limits.outputTokensMax);
  const advice = (availablePicos: bigint): string => {
    const affordable = suggestedAt(availablePicos);
    return [
      `The available amount pays for ${affordable} output ${affordable === 1 ? 'token' : 'tokens'}.`,
      ...(factor > 1 ? [`After a charge above its hold, the prompt counts ${factor} times for some days.`] : []),
    ].join(' ');
  };
  const reduction = (availablePicos: bigint): string => {
    const suggested = suggestedAt(availablePicos, raisedTokens + addedTokens);
    if (suggested < Math.max(SUGGESTED_CAP_MIN, outputTokensMin) + imageTokens) return 'send a shorter prompt';
    return suggested < cap ? `set ${capParam} to at most ${suggested}` : 'send a smaller request';
  };
  const outputLimit = { field: capParam, tokens: cap, choices };
  return {
    order: { amountPicos, advice, reduction, outputLimit, ...(isOurs ? { smaller } : {}) },
    cap: () => cap,
    chosenCap: () => (isOurs || cap > asked ? cap : undefined),
    promptTokens: heldTokens,
    factor: isRaised ? factor : 1,
  };
};

/**
 * Returns only the data for the settlement, because a stream must not keep the body of the request in memory to its
 * end.
 */
export const settlementTerms = (
  { model, row, request, promptTokens: estimated }: CheckedText,
  cap: number,
  estimate?: Caller['estimate'],
): Pick<Settlement, 'chargeFor' | 'expectsUsage' | 'onOverage'> => {
  const { choices, promptPricing } = request;
  // Some providers do not count an image toward the output limit.
  const answerTokens = model.imageTiers.length > 0 ? model.limits.outputTokensMax * choices : cap * choices;
  const bounds = { promptTokens: promptTokensPlausible(model, request), answerTokens };
  return {
    chargeFor: (usage) => chargeFor(row, usage, bounds, promptPricing),
    expectsUsage: model.reportsUsage && (row.rates.input > 0n || row.rates.output > 0n),
    // The output is limited, so a charge above the hold comes from the prompt.
    onOverage: async (usage) =>
      estimate?.raise(factorFor(Math.min(promptTokensOf(usage), bounds.promptTokens), estimated)),
  };
};
