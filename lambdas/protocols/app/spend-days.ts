import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { lastDays } from '../../core/ledger/spend.ts';
import { dayOfRequest, firstIdAt } from '../../http/exchange.ts';

type Query = Readonly<Record<string, string | undefined>>;

const DAYS_DEFAULT = 30;
const DAYS_MAX = 90;

export interface SpendDays {
  /** `2026-11-20`, UTC, today as the last one. */
  readonly days: readonly string[];
  readonly fromHoldId: string;
  readonly beforeHoldId: string;
  readonly dayOf: (requestId: string) => string;
}

/** Throws the 400 that names the parameter. An empty one is as good as none. */
export const readSpendDays = (query: Query, nowMs: number): SpendDays => {
  const unknown = Object.keys(query).find((name) => name !== 'days');
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw invalidRequest(name, `${name}: no parameter here. There is days.`);
  }
  const { days, fromMs, untilMs } = lastDays(nowMs, readCount(query));
  return { days, fromHoldId: firstIdAt(fromMs), beforeHoldId: firstIdAt(untilMs), dayOf: dayOfRequest };
};

const readCount = ({ days }: Query): number => {
  if (!days) return DAYS_DEFAULT;
  const count = /^\d{1,2}$/.test(days) ? Number(days) : 0;
  if (count >= 1 && count <= DAYS_MAX) return count;
  throw invalidRequest('days', `days: must be a whole number from 1 to ${DAYS_MAX}.`);
};
