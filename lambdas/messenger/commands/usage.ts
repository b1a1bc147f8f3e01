import { decodeTime, encodeTime } from 'ulid';
import type { ChargeRecord } from '../../core/ledger/charge-record.ts';
import type { RecordRange } from '../../core/ledger/ledger-records.ts';
import { untilDefinite } from '../../core/ledger/resolve.ts';
import { listUsage } from '../../core/ledger/usage-list.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { appButton } from '../app-button.ts';
import type { BotPorts } from '../bot-ports.ts';
import type { RequestFacts, SpendFacts } from '../texts/texts.ts';
import type { Visit } from '../visit.ts';

const MS_PER_DAY = 86_400_000;
const SHOWN = 5;
/** What is added up before a user is told that it was more. */
const PAGES_MAX = 5;
const PAGE = 1_000;
const ULID_TIME_CHARACTERS = 10;

/** What has been spent today and in seven days, today among them, and on the last requests. */
export const createUsage =
  (ports: BotPorts) =>
  async (visit: Visit, accountId: string): Promise<void> => {
    const midnight = Math.floor(ports.clock.now() / MS_PER_DAY) * MS_PER_DAY;
    const [{ records: last }, { records, isWhole }] = await Promise.all([
      read(ports, accountId, { limit: SHOWN }),
      readSince(ports, accountId, midnight - 6 * MS_PER_DAY),
    ]);
    const facts = {
      today: summed(records.filter((record) => askedAt(record) >= midnight)),
      week: summed(records),
      isWhole,
      last: last.map(toFacts),
    };
    await visit.tell(visit.texts.usage(facts), appButton(ports, visit.texts));
  };

const read = (ports: BotPorts, accountId: string, range: RecordRange) =>
  untilDefinite(ports, () => listUsage(ports.ledgerRecords, accountId, range));

const readSince = async (ports: BotPorts, accountId: string, fromMs: number) => {
  const fromHoldId = encodeTime(fromMs, ULID_TIME_CHARACTERS);
  const records: ChargeRecord[] = [];
  let beforeHoldId: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await read(ports, accountId, { fromHoldId, beforeHoldId, limit: PAGE });
    records.push(...found.records);
    beforeHoldId = found.nextHoldId;
    if (beforeHoldId === undefined) return { records, isWhole: true };
  }
  return { records, isWhole: false };
};

const askedAt = ({ requestId }: ChargeRecord): number => decodeTime(requestId);

const summed = (records: readonly ChargeRecord[]): SpendFacts => ({
  cost: formatUsd(records.reduce((sum, { amountPicos }) => sum + amountPicos, 0n)),
  requests: records.length,
});

const toFacts = (record: ChargeRecord): RequestFacts => ({
  atMs: askedAt(record),
  model: record.model,
  cost: formatUsd(record.amountPicos),
  isFailed: record.outcome === 'released',
});
