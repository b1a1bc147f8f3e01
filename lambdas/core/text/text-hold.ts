import type { HoldParams } from '../ledger/hold.ts';
import { refuseAboveBudget } from '../paid-call/preflight.ts';
import type { Settlement } from '../paid-call/settle.ts';
import { affordableAnswerTokens, chargeFor, imageTokensOf, maximumPrice } from '../pricing/text-price.ts';
import type { CheckedText } from './text-candidates.ts';
import { promptTokensPlausible } from './token-estimate.ts';

/** Smallest output limit that the gateway offers (BILL-6). */
const SMALLEST_CAP = 256;

/** Hold of a request for text, and the output limit that follows from it. */
export interface TextHold {
  readonly order: Pick<HoldParams, 'amountPicos' | 'smaller' | 'advice'>;
  /** Returns the output limit of the current hold. It decreases after `smaller`. */
  readonly cap: () => number;
  /** Returns the output limit if the gateway chose it, because the client set none. */
  readonly chosenCap: () => number | undefined;
}

/**
 * Computes the hold of a request. Throws `request_budget_exceeded` (BILL-4). `capParam` is the name of the output limit
 * in the client's protocol.
 */
export const priceText = ({ model, request, row, promptTokens }: CheckedText, capParam: string): TextHold => {
  const { promptPricing, choices, imageTier } = request;
  const imageTokens = imageTokensOf(row, imageTier);
  const price = (cap: number) => maximumPrice(row, promptTokens, cap * choices, promptPricing, imageTokens);
  let cap = request.outputTokensMax ?? model.limits.outputTokensDefault;
  const amountPicos = price(cap);
  refuseAboveBudget(amountPicos, capParam, `reduce ${capParam} or split the request`);
  const affordableAt = (availablePicos: bigint): number =>
    Math.max(0, Math.floor(affordableAnswerTokens(row, promptTokens, availablePicos, promptPricing) / choices));
  const smaller = (availablePicos: bigint): bigint | undefined => {
    const affordable = affordableAt(availablePicos);
    if (affordable < SMALLEST_CAP + imageTokens || affordable >= cap) return undefined;
    cap = affordable;
    return price(affordable);
  };
  const advice = (availablePicos: bigint): string =>
    `The available balance pays for ${affordableAt(availablePicos)} output tokens.`;
  const isOurs = request.outputTokensMax === undefined;
  return {
    order: { amountPicos, advice, ...(isOurs ? { smaller } : {}) },
    cap: () => cap,
    chosenCap: () => (isOurs ? cap : undefined),
  };
};

/**
 * Returns only the data for the settlement, because a stream must not keep the body of the request in memory to its
 * end.
 */
export const settlementTerms = (
  { model, row, request }: CheckedText,
  cap: number,
): Pick<Settlement, 'chargeFor' | 'expectsUsage'> => {
  const { choices, promptPricing } = request;
  // Some providers do not count an image toward the output limit.
  const answerTokens = model.imageTiers.length > 0 ? model.limits.outputTokensMax * choices : cap * choices;
  const bounds = { promptTokens: promptTokensPlausible(model, request), answerTokens };
  return {
    chargeFor: (usage) => chargeFor(row, usage, bounds, promptPricing),
    expectsUsage: model.reportsUsage && (row.rates.input > 0n || row.rates.output > 0n),
  };
};
