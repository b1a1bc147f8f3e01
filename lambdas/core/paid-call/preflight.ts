import type { Model } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { formatUsd, PICOS_PER_USD } from '../money/usd.ts';

/** Maximum hold of one request (BILL-4). */
export const HOLD_MAX_PICOS = 100n * PICOS_PER_USD;

export const isAboveBudget = (amountPicos: bigint): boolean => amountPicos > HOLD_MAX_PICOS;

export const refuseAboveBudget = (amountPicos: bigint, param: string, advice: string): void => {
  if (!isAboveBudget(amountPicos)) return;
  throw new GatewayError(
    'request_budget_exceeded',
    `This request could cost ${formatUsd(amountPicos)} USD, more than the limit of 100 USD for one request: ${advice}.`,
    { param },
  );
};

/** Hold that a request would need, computed without placing it (BILL-16). */
export interface DryRun {
  readonly kind: 'dry_run';
  readonly model: Model;
  readonly holdPicos: bigint;
  /** Output tokens per choice; undefined for responses without a length. */
  readonly outputTokensMax: number | undefined;
  /** Pico-USD per unit, such as a token. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** Factor on the estimate of prompt tokens in the hold (BILL-20). Undefined if there is no such estimate. */
  readonly estimateFactor?: number | undefined;
  /** Names of the ignored request fields. */
  readonly ignored?: readonly string[] | undefined;
}
