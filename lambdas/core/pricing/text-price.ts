import { ratesAt } from '../catalog/rates.ts';
import type { TextPriceRow } from '../catalog/schema.ts';
import { answerTokensOf, promptTokensOf, type TokenUsage } from './token-usage.ts';

/** What a request can cost at most. Pico-USD. */
export const maximumPrice = (row: TextPriceRow, promptTokens: number, answerTokens: number): bigint => {
  const rates = ratesAt(row, promptTokens);
  return BigInt(promptTokens) * rates.input + BigInt(answerTokens) * rates.output;
};

/** How many answer tokens an amount pays for after the prompt; below zero when it does not pay for the prompt. */
export const affordableAnswerTokens = (row: TextPriceRow, promptTokens: number, amountPicos: bigint): number => {
  const rates = ratesAt(row, promptTokens);
  const left = amountPicos - BigInt(promptTokens) * rates.input;
  if (left < 0n) return -1;
  return rates.output === 0n ? Number.MAX_SAFE_INTEGER : Number(left / rates.output);
};

export interface TokenBounds {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

export interface TextCharge {
  readonly amountPicos: bigint;
  readonly prices: Readonly<Record<string, bigint>>;
  readonly usage: Readonly<Record<string, number>>;
  /** A count could not be true and was charged at its bound (BILL-7). */
  readonly implausible: boolean;
}

/**
 * Actual usage times the prices at hold time, in integers and without rounding (BILL-3). Every prompt token costs the same
 * on this way, cached or not (BILL-18). No usage charges no tokens (BILL-10).
 */
export const chargeFor = (row: TextPriceRow, usage: TokenUsage | undefined, bounds: TokenBounds): TextCharge => {
  const prompt = usage ? promptTokensOf(usage) : 0;
  const answer = usage ? answerTokensOf(usage) : 0;
  const billedPrompt = Math.min(prompt, bounds.promptTokens);
  const billedAnswer = Math.min(answer, bounds.answerTokens);
  const rates = ratesAt(row, billedPrompt);
  return {
    amountPicos: BigInt(billedPrompt) * rates.input + BigInt(billedAnswer) * rates.output,
    prices: { input: rates.input, output: rates.output },
    usage: usage ? { ...usage } : {},
    implausible: prompt > bounds.promptTokens || answer > bounds.answerTokens,
  };
};
