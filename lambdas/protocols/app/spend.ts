import type { LedgerRecords } from '../../core/ledger/records.ts';
import { type ModelSpend, type SpendSum, sumSpend } from '../../core/ledger/spend.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import type { AccountIdOf } from './account-of-chat.ts';
import { readSpendDays } from './spend-days.ts';

export interface SpendPorts {
  readonly accountIdOf: AccountIdOf;
  readonly ledgerRecords: LedgerRecords;
}

/** About twenty megabytes of the table, in as many reads. */
const RECORDS_MAX = 20_000;

/** GET /app/api/spend (KEY-4): what was charged by day and by model, exactly; and how many requests were not charged in the end. */
export const createGetAppSpend =
  ({ accountIdOf, ledgerRecords }: SpendPorts): RouteHandler =>
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
