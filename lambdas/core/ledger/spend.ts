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
  /** Number of charged requests. */
  readonly requests: number;
  /** Requests that were not charged; their holds were released. */
  readonly failed: number;
  /** Models by cost, the most expensive first. */
  readonly models: readonly ModelSpend[];
}

export interface DaySpend extends SpendSum {
  readonly day: string;
}

export interface Spend {
  /** Whether every record was read. If not, the oldest requests are missing. */
  readonly complete: boolean;
  readonly total: SpendSum;
  /** Days in the order of the query. */
  readonly days: readonly DaySpend[];
}

interface SpendRange {
  readonly fromHoldId: string;
  readonly beforeHoldId?: string;
  /** Maximum number of records to read. */
  readonly recordsMax: number;
}

export interface SpendParams extends SpendRange {
  readonly days: readonly string[];
  /** Returns the day of a request. */
  readonly dayOf: (requestId: string) => string;
}

const MS_PER_DAY = 86_400_000;

export interface Days {
  /** Days such as `2026-11-20` in UTC. Today is the last one. */
  readonly days: readonly string[];
  /** Start of the first day and end of the last, in Unix milliseconds. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns today and the days before it, `count` days in total. */
export const lastDays = (nowMs: number, count: number): Days => {
  const today = Math.floor(nowMs / MS_PER_DAY);
  const first = today - count + 1;
  return {
    days: Array.from({ length: count }, (_, index) => utcDay((first + index) * MS_PER_DAY)),
    fromMs: first * MS_PER_DAY,
    untilMs: (today + 1) * MS_PER_DAY,
  };
};

/** Sums the spend of an account by day and by model (KEY-4). Throws StoreError. */
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
  /** Hold id at which reading stopped early; newer records are included. Undefined if every record was read. */
  readonly cutAtHoldId: string | undefined;
}

/** Sums the spend of a range. Throws StoreError. */
export const sumRecent = async (ledger: LedgerRecords, accountId: string, range: SpendRange): Promise<RecentSpend> => {
  let costPicos = 0n;
  const cutAtHoldId = await readEnded(ledger, accountId, range, ({ amountPicos }) => {
    costPicos += amountPicos;
  });
  return { costPicos, cutAtHoldId };
};

const PAGE = 1_000;

/**
 * Passes the outcome of each request to a callback, newest first. Returns the last hold id if there are more records
 * than may be read.
 */
const readEnded = async (
  ledger: LedgerRecords,
  accountId: string,
  { recordsMax, fromHoldId, beforeHoldId: end }: SpendRange,
  ended: (record: ChargeRecord) => void,
): Promise<string | undefined> => {
  const requests = gatherRequests((record) => record && ended(record));
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

/**
 * Model name for a charge record without a model. Every charge should have a model, but its amount must count in any
 * case.
 */
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
