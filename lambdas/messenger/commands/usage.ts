import { decodeTime, encodeTime } from 'ulid';
import { utcDay } from '../../core/catalog/rates.ts';
import type { ChargeRecord } from '../../core/ledger/charge-record.ts';
import { untilDefinite } from '../../core/ledger/resolve.ts';
import { type SpendOrder, type SpendSum, sumSpend } from '../../core/ledger/spend.ts';
import { listUsage } from '../../core/ledger/usage-list.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { appButton } from '../app-button.ts';
import type { BotPorts } from '../bot-ports.ts';
import type { RequestFacts, SpendFacts } from '../texts/texts.ts';
import type { Visit } from '../visit.ts';

const MS_PER_DAY = 86_400_000;
const SHOWN = 5;
const DAYS = 7;
/** What is added up before a user is told that it was more. */
const RECORDS_MAX = 5_000;
const ULID_TIME_CHARACTERS = 10;

/** What has been spent today and in seven days, today among them, and on the last requests. */
export const createUsage =
  (ports: BotPorts) =>
  async (visit: Visit, accountId: string): Promise<void> => {
    const [{ records: last }, { complete, total, days }] = await Promise.all([
      untilDefinite(ports, () => listUsage(ports.ledgerRecords, accountId, { limit: SHOWN })),
      untilDefinite(ports, () => sumSpend(ports.ledgerRecords, accountId, lastDays(ports.clock.now()))),
    ]);
    const facts = {
      today: summed(days.at(-1) ?? total),
      week: summed(total),
      isWhole: complete,
      last: last.map(toFacts),
    };
    await visit.tell(visit.texts.usage(facts), appButton(ports, visit.texts));
  };

const lastDays = (nowMs: number): SpendOrder => {
  const midnight = Math.floor(nowMs / MS_PER_DAY) * MS_PER_DAY;
  const firstMs = midnight - (DAYS - 1) * MS_PER_DAY;
  return {
    days: Array.from({ length: DAYS }, (_, index) => utcDay(firstMs + index * MS_PER_DAY)),
    dayOf: (requestId) => utcDay(decodeTime(requestId)),
    fromHoldId: encodeTime(firstMs, ULID_TIME_CHARACTERS),
    recordsMax: RECORDS_MAX,
  };
};

const askedAt = ({ requestId }: ChargeRecord): number => decodeTime(requestId);

const summed = ({ costPicos, requests }: SpendSum): SpendFacts => ({ cost: formatUsd(costPicos), requests });

const toFacts = (record: ChargeRecord): RequestFacts => ({
  atMs: askedAt(record),
  model: record.model,
  cost: formatUsd(record.amountPicos),
  isFailed: record.outcome === 'released',
});
