import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import { lastDays, type SpendSum, sumSpend } from '../../core/ledger/spend.ts';
import { listUsage } from '../../core/ledger/usage.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { firstIdAt } from '../../core/request-id.ts';
import { retryUntilDefinite } from '../../core/retry.ts';
import { dayOfRequest, timeOfRequest } from '../../http/exchange.ts';
import type { BotContext, BotDependencies } from '../bot-context.ts';
import { appButton } from '../bot-context.ts';
import type { RequestFacts, SpendFacts } from '../texts/words.ts';

const SHOWN = 5;
const DAYS = 7;
/** Limit on the records to add up. With more, the reply says "more than". */
const RECORDS_MAX = 5_000;

/** Creates the command that shows the spend of today and of seven days, and the last requests. */
export const createUsage =
  (deps: BotDependencies) =>
  async (visit: BotContext, accountId: string): Promise<void> => {
    const { days: asked, fromMs } = lastDays(deps.clock.now(), DAYS);
    const order = { days: asked, dayOf: dayOfRequest, fromHoldId: firstIdAt(fromMs), recordsMax: RECORDS_MAX };
    const [{ records: last }, { complete, total, days }] = await Promise.all([
      retryUntilDefinite(deps, () => listUsage(deps.ledgerRecords, accountId, { limit: SHOWN })),
      // Retried as a whole, because most accounts fit into one read.
      retryUntilDefinite(deps, () => sumSpend(deps.ledgerRecords, accountId, order)),
    ]);
    const today = days.at(-1);
    if (!today) throw new Error('a week without a day');
    const facts = {
      today: summed(today),
      week: summed(total),
      isWhole: complete,
      last: last.map(toFacts),
    };
    await visit.tell(visit.texts.usage(facts), appButton(deps, visit.texts));
  };

const summed = ({ costPicos, requests }: SpendSum): SpendFacts => ({ cost: formatUsd(costPicos), requests });

const toFacts = (record: ChargeRecord): RequestFacts => ({
  atMs: timeOfRequest(record.requestId),
  model: record.model,
  cost: formatUsd(record.amountPicos),
  isFailed: record.outcome === 'released',
});
