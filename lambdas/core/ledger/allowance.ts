import { utcDay } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { formatUsd } from '../money/usd.ts';

/** Uncollected amounts of an account that use its allowance (BILL-21). */
export interface UncollectedOfDay {
  /** UTC day such as `2026-11-27`, so days compare as text. */
  readonly day: string;
  /** Sum in pico-USD. It can exceed the allowance, because requests run concurrently. */
  readonly picos: bigint;
}

/** Condition of a hold: the account has used less than `picos` of the allowance of `day`. */
export interface Allowance {
  /** UTC day of the request by the clock of its process. */
  readonly day: string;
  /** Allowance in pico-USD. With 0, a single uncollected amount uses it up. */
  readonly picos: bigint;
}

/** Counter of an account, undefined until its first amount. */
interface Counter {
  readonly uncollected?: UncollectedOfDay | undefined;
}

/** Fields of a charge record. */
interface Use {
  readonly uncollectedPicos?: bigint | undefined;
  readonly usesAllowance?: boolean | undefined;
}

/**
 * Whether the account has used the allowance. A later day of the account counts as the day of the request: otherwise a
 * process whose clock is late could place holds beyond the allowance.
 */
export const isAllowanceUsed = ({ uncollected }: Counter, allowance: Allowance | undefined): boolean =>
  allowance !== undefined &&
  uncollected !== undefined &&
  uncollected.day >= allowance.day &&
  uncollected.picos >= allowance.picos;

/**
 * Returns the counter after a hold was closed at `nowMs`. A new day starts from 0. A clock behind the day of the account
 * adds to that day, so the counter never returns to an earlier day. Undefined if there is still nothing to count.
 */
export const countUncollected = (
  { uncollected }: Counter,
  record: Use,
  nowMs: number,
): UncollectedOfDay | undefined => {
  const picos = allowanceUseOf(record);
  if (picos === undefined) return uncollected;
  const today = utcDay(nowMs);
  if (!uncollected || uncollected.day < today) return { day: today, picos };
  return { day: uncollected.day, picos: uncollected.picos + picos };
};

/** Returns the amount by which closing the hold raises the counter, in pico-USD; undefined if it does not. */
export const allowanceUseOf = ({ uncollectedPicos, usesAllowance }: Use): bigint | undefined =>
  usesAllowance ? uncollectedPicos : undefined;

const RETRY_AFTER_SECONDS = 300;
const MS_PER_DAY = 86_400_000;

/** Returns the client's error for an account that has used its allowance. The message has the time of the reset. */
export const allowanceUsed = ({ uncollected }: Counter, { day, picos }: Allowance): GatewayError => {
  const usedDay = uncollected && uncollected.day > day ? uncollected.day : day;
  const resetDay = utcDay(Date.parse(usedDay) + MS_PER_DAY);
  return new GatewayError(
    'rate_limit_exceeded',
    `Requests of this account that ended without a charge used its daily allowance of ${formatUsd(picos)} USD. Paid text requests are accepted again at ${resetDay}T00:00:00Z.`,
    {
      limit: 'uncollected',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      // SDKs would retry within seconds, and the allowance is back on the next day.
      headers: { 'x-should-retry': 'false' },
    },
  );
};
