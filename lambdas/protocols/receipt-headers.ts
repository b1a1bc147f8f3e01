import { formatUsd } from '../core/money/usd.ts';

/** What belongs to an answer for good: a repetition has it, too (IDEM-2). */
export interface AnswerFacts {
  readonly modelId: string;
  /** FALL-3. */
  readonly fallbackFrom?: string | undefined;
  /** BILL-6. */
  readonly chosenCap?: number | undefined;
  /** Names of the request's fields that were ignored (GEN-16). */
  readonly ignored?: readonly string[] | undefined;
}

export const factHeaders = ({ modelId, fallbackFrom, chosenCap, ignored }: AnswerFacts): Record<string, string> => ({
  ...(fallbackFrom === undefined ? {} : { 'x-service-model-used': modelId, 'x-service-fallback-from': fallbackFrom }),
  ...(chosenCap === undefined ? {} : { 'x-service-max-tokens': String(chosenCap) }),
  ...ignoredHeaders(ignored),
});

export const ignoredHeaders = (ignored: readonly string[] | undefined): Record<string, string> =>
  ignored?.length ? { 'x-service-ignored-parameters': ignored.join(',') } : {};

/** BILL-15, on answers that await their settlement. */
export const costHeaders = (costPicos: bigint): Record<string, string> => ({
  'x-service-cost-usd': formatUsd(costPicos),
});

/** The balance as this request's own last write returned it; it belongs to the moment, not to the answer. */
export const balanceHeaders = (balancePicos: bigint | undefined): Record<string, string> =>
  balancePicos === undefined ? {} : { 'x-service-balance-usd': formatUsd(balancePicos) };
