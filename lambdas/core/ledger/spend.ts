import { utcDay } from '../clock.ts';
import type { ChargeRecord } from './ledger.ts';
import type { LedgerRecords } from './records.ts';
import { gatherRequests } from './usage.ts';

export interface ModelSpend {
  readonly model: string;
  /** Pico-USD. */
  readonly costPicos: bigint;
  readonly requests: number;
}

export interface SpendSum {
  /** Pico-USD. */
  readonly costPicos: bigint;
  /** That were charged. */
  readonly requests: number;
  /** Requests that were not charged; their holds were released. */
  readonly failed: number;
  /** The most expensive first. */
  readonly models: readonly ModelSpend[];
}

export interface DaySpend extends SpendSum {
  readonly day: string;
}

export interface Spend {
  /** Nothing was left unread; else the oldest requests are missing. */
  readonly complete: boolean;
  readonly total: SpendSum;
  /** Days in the order of the query. */
  readonly days: readonly DaySpend[];
}

interface SpendRange {
  readonly fromHoldId: string;
  readonly beforeHoldId?: string;
  /** After so many records reading ends. */
  readonly recordsMax: number;
}

export interface SpendParams extends SpendRange {
  readonly days: readonly string[];
  /** Which of the days a request came on. */
  readonly dayOf: (requestId: string) => string;
}

const MS_PER_DAY = 86_400_000;

export interface Days {
  /** `2026-11-20`, UTC, today as the last one. */
  readonly days: readonly string[];
  /** When the first begins and the last ends, in Unix milliseconds. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Today, and as many days before it as make `count`. */
export const lastDays = (nowMs: number, count: number): Days => {
  const today = Math.floor(nowMs / MS_PER_DAY);
  const first = today - count + 1;
  return {
    days: Array.from({ length: count }, (_, index) => utcDay((first + index) * MS_PER_DAY)),
    fromMs: first * MS_PER_DAY,
    untilMs: (today + 1) * MS_PER_DAY,
  };
};

/** What an account has spent, by day and by model (KEY-4). Throws StoreError. */
export const sumSpend = async (
  ledger: LedgerRecords,
  accountId: string,
  { days, dayOf, ...range }: SpendParams,
): Promise<Spend> => {
  const total = new Sum();
  const sums = new Map(days.map((day) => [day, new Sum()]));
  const cutAt = await readEnded(ledger, accountId, range, (record) => {
    const ofDay = sums.get(dayOf(record.requestId));
    if (!ofDay) return;
    ofDay.add(record);
    total.add(record);
  });
  return {
    complete: cutAt === undefined,
    total: total.told(),
    days: [...sums].map(([day, sum]) => ({ day, ...sum.told() })),
  };
};

export interface RecentSpend {
  readonly costPicos: bigint;
  /** Where reading ended before its time: what came later has been added up. */
  readonly cutAtHoldId: string | undefined;
}

/** Throws StoreError. */
export const sumRecent = async (ledger: LedgerRecords, accountId: string, range: SpendRange): Promise<RecentSpend> => {
  let costPicos = 0n;
  const cutAtHoldId = await readEnded(ledger, accountId, range, ({ amountPicos }) => {
    costPicos += amountPicos;
  });
  return { costPicos, cutAtHoldId };
};

const PAGE = 1_000;

/** Hands on what became of each request, newest first. Answers the last hold id if there are more records than may be read. */
const readEnded = async (
  ledger: LedgerRecords,
  accountId: string,
  { recordsMax, fromHoldId, beforeHoldId: end }: SpendRange,
  ended: (record: ChargeRecord) => void,
): Promise<string | undefined> => {
  const requests = gatherRequests(ended);
  let beforeHoldId = end;
  for (let left = recordsMax; ; ) {
    const page = await ledger.listRecords(accountId, { fromHoldId, beforeHoldId, limit: Math.min(PAGE, left) });
    page.records.forEach(requests.take);
    beforeHoldId = page.records.at(-1)?.holdId;
    left -= page.records.length;
    if (!page.more || beforeHoldId === undefined) {
      requests.end();
      return undefined;
    }
    // The last request may have unread records, so it is not counted.
    if (left <= 0) return beforeHoldId;
  }
};

/** Every charge has named its model; a record that has not is still counted. */
const UNNAMED = 'unknown';

class Sum {
  #costPicos = 0n;
  #requests = 0;
  #failed = 0;
  readonly #models = new Map<string, ModelSpend>();

  add({ outcome, amountPicos, model = UNNAMED }: ChargeRecord): void {
    if (outcome === 'released') {
      this.#failed += 1;
      return;
    }
    this.#costPicos += amountPicos;
    this.#requests += 1;
    const { costPicos, requests } = this.#models.get(model) ?? { costPicos: 0n, requests: 0 };
    this.#models.set(model, { model, costPicos: costPicos + amountPicos, requests: requests + 1 });
  }

  told(): SpendSum {
    const models = [...this.#models.values()].sort(byCost);
    return { costPicos: this.#costPicos, requests: this.#requests, failed: this.#failed, models };
  }
}

const byCost = (one: ModelSpend, other: ModelSpend): number => {
  if (one.costPicos !== other.costPicos) return one.costPicos > other.costPicos ? -1 : 1;
  return one.model < other.model ? -1 : 1;
};
