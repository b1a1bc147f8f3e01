import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { LedgerRecords } from '../../core/ledger/records.ts';
import { lastDays, type ModelSpend, type SpendSum, sumSpend } from '../../core/ledger/spend.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { firstIdAt } from '../../core/request-id.ts';
import { dayOfRequest, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import type { AccountIdOf } from './account.ts';

type Query = Readonly<Record<string, string | undefined>>;

const DAYS_DEFAULT = 30;
const DAYS_MAX = 90;

export interface SpendDays {
  /** Days such as `2026-11-20` in UTC. Today is the last one. */
  readonly days: readonly string[];
  readonly fromHoldId: string;
  readonly beforeHoldId: string;
  readonly dayOf: (requestId: string) => string;
}

/** Throws the 400 that names the parameter. An empty parameter counts as absent. */
export const readSpendDays = (query: Query, nowMs: number): SpendDays => {
  const unknown = Object.keys(query).find((name) => name !== 'days');
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw invalidRequest(name, `${name}: unknown query parameter. The only one is "days".`);
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

export interface SpendDependencies {
  readonly accountIdOf: AccountIdOf;
  readonly ledgerRecords: LedgerRecords;
}

/** Limit on the records that are read: about 20 MB of the table, in about 20 reads. */
const RECORDS_MAX = 20_000;

/**
 * GET /app/api/spend (KEY-4): exact charges by day and by model, and the number of requests that ended without a
 * charge.
 */
export const createGetAppSpend =
  ({ accountIdOf, ledgerRecords }: SpendDependencies): RouteHandler =>
  async (exchange) => {
    const accountId = await accountIdOf(exchange);
    const asked = readSpendDays(exchange.event.queryStringParameters ?? {}, exchange.startedAtMs);
    const order = { ...asked, recordsMax: RECORDS_MAX };
    const { complete, total, days } = await orUnavailable(sumSpend(ledgerRecords, accountId, order));
    return json(200, {
      object: 'spend',
      from: asked.days.at(0),
      to: asked.days.at(-1),
      complete,
      requests: total.requests,
      failed: total.failed,
      total_usd: formatUsd(total.costPicos),
      days: days.map(({ day, ...sum }) => ({ day, ...toDayObject(sum) })),
      models: total.models.map(toModelObject),
    });
  };

const toDayObject = ({ costPicos, requests, failed, models }: SpendSum) => ({
  cost_usd: formatUsd(costPicos),
  requests,
  failed,
  models: models.map(toModelObject),
});

const toModelObject = ({ model, costPicos, requests }: ModelSpend) => ({
  model,
  cost_usd: formatUsd(costPicos),
  requests,
});
