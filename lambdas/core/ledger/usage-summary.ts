import { type Clock, utcDay } from '../clock.ts';
import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import { firstIdAt } from '../request-id.ts';
import { requestIdOf } from './hold.ts';
import type { Account, ChargeRecord, LedgerStore } from './ledger.ts';
import type { LedgerRecords, RecordPage } from './records.ts';
import { gatherRequests } from './usage.ts';
import {
  type CellSums,
  createDaySums,
  createKeySums,
  KEYS_PERIOD,
  type UsageCell,
  type UsageSums,
} from './usage-sums.ts';

export interface SummaryDependencies {
  readonly store: Pick<LedgerStore, 'readAccount'>;
  readonly records: Pick<LedgerRecords, 'listRecords' | 'usageSums' | 'keepUsageSums'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface DaySummaries {
  /** Cells by UTC day. A day without charged requests is absent. */
  readonly days: ReadonlyMap<string, readonly UsageCell[]>;
  /** Days whose requests were not all read. The next call continues. */
  readonly incompleteDays: readonly string[];
}

const DAY_MS = 86_400_000;

/** Limit on the records of one call, as of a statement. */
const RECORDS_MAX = 5_000;
const PAGE = 1_000;
/** Smaller than a page, and larger than the records of one request, so that each page ends a request. */
const PAGE_MIN = 20;

/**
 * Longest time from the start of a request to its first hold, in ms: the lifetime of a Lambda function. It is also above
 * the time that a body may take, and the difference of two clocks.
 */
const UNHELD_MS = 900_000;

/** Sorts after every id. */
const END = '~';

const ID_FORM = /^[0-7][0-9A-HJKMNP-TV-Z]{25}\./;

/**
 * Returns the id before which no request can be charged any more: its hold is closed, and a hold that was not placed by
 * now is not placed. A charge record is written before its hold is closed, so the records of these requests exist.
 */
const settledBefore = (account: Account, nowMs: number): string => {
  let id = firstIdAt(nowMs - UNHELD_MS);
  for (const holdId of account.holds.keys()) {
    const start = ID_FORM.test(holdId) ? requestIdOf(holdId) : '';
    if (start < id) id = start;
  }
  return id;
};

/** Called for each request. The record is undefined if the request was not charged. */
type Take = (requestId: string, charged: ChargeRecord | undefined) => void;

/**
 * Passes on the requests of a range, the oldest first. Returns the id from which the next call must continue; undefined
 * if all were read. The reads of one call share its limit.
 */
type ReadRange = (fromId: string, untilId: string, take: Take) => Promise<string | undefined>;

const createReadRange = (
  { records }: SummaryDependencies,
  accountId: string,
  recordsMax: number = RECORDS_MAX,
): ReadRange => {
  let left = recordsMax;
  return async (fromId, untilId, take) => {
    const requests = gatherRequests((record, requestId) =>
      take(requestId, record?.outcome === 'settled' ? record : undefined),
    );
    let from = fromId;
    while (from < untilId) {
      const limit = Math.min(PAGE, left);
      if (limit < PAGE_MIN) return from;
      const range = { fromHoldId: from, beforeHoldId: untilId, limit, isOldestFirst: true } as const;
      const page = await records.listRecords(accountId, range);
      left -= page.records.length;
      const unfinishedId = unfinishedOf(page);
      page.records.filter(({ holdId }) => requestIdOf(holdId) !== unfinishedId).forEach(requests.take);
      requests.end();
      if (unfinishedId === undefined) return undefined;
      from = unfinishedId;
    }
    return undefined;
  };
};

/** The last request of a page can have further records, so the next page starts with it. */
const unfinishedOf = ({ records, more }: RecordPage): string | undefined => {
  const last = records.at(-1);
  return more && last ? requestIdOf(last.holdId) : undefined;
};

interface Day {
  readonly day: string;
  readonly startId: string;
  readonly endId: string;
  /** Stored sums that are not complete. */
  readonly kept: UsageSums | undefined;
}

/** Returns the UTC days from the first to the last one. */
export const daysBetween = (fromDay: string, toDay: string): readonly string[] => {
  const fromMs = Date.parse(fromDay);
  const length = (Date.parse(toDay) - fromMs) / DAY_MS + 1;
  return Array.from({ length }, (_, index) => utcDay(fromMs + index * DAY_MS));
};

/**
 * Sums the charged requests of each day (BILL-23). Requests that can still change a day are read by each call. The sums
 * of the others are stored, so that each record is read once. One call reads at most 5,000 records. Undefined without an
 * account. Throws StoreError.
 */
export const summarizeDays = async (
  deps: SummaryDependencies,
  accountId: string,
  { fromDay, toDay }: { readonly fromDay: string; readonly toDay: string },
): Promise<DaySummaries | undefined> => {
  const account = await deps.store.readAccount(accountId);
  if (!account) return undefined;
  const kept = new Map(
    (await deps.records.usageSums(accountId, fromDay, toDay)).map((sums) => [sums.period, sums] as const),
  );
  const settledId = settledBefore(account, deps.clock.now());
  const readRange = createReadRange(deps, accountId);
  const days = new Map<string, readonly UsageCell[]>();
  const incompleteDays: string[] = [];
  const changed: KeptChange[] = [];
  for (const run of runsOf(daysBetween(fromDay, toDay), kept)) {
    const read = await readRun(readRange, run, settledId);
    for (const [day, cells] of read.cells) days.set(day, cells);
    incompleteDays.push(...read.incompleteDays);
    changed.push(...read.changed);
  }
  for (const [day, sums] of kept) if (sums.fromId === undefined) days.set(day, sums.cells);
  await forEachConcurrent(changed, (change) => keep(deps, accountId, change));
  return { days, incompleteDays };
};

/** Consecutive days that one range reads. Only the first one can have stored sums. */
type Run = readonly [Day, ...Day[]];

const runsOf = (days: readonly string[], kept: ReadonlyMap<string, UsageSums>): readonly Run[] => {
  const runs: [Day, ...Day[]][] = [];
  let run: [Day, ...Day[]] | undefined;
  for (const day of days) {
    const sums = kept.get(day);
    if (sums && sums.fromId === undefined) {
      run = undefined;
      continue;
    }
    const startMs = Date.parse(day);
    const one: Day = { day, startId: firstIdAt(startMs), endId: firstIdAt(startMs + DAY_MS), kept: sums };
    if (run && !sums) run.push(one);
    else {
      run = [one];
      runs.push(run);
    }
  }
  return runs;
};

interface KeptChange {
  readonly sums: UsageSums;
  /** `fromId` of the stored sums that were read. Undefined if there were none. */
  readonly seenId: string | undefined;
}

interface RunSums {
  readonly cells: ReadonlyMap<string, readonly UsageCell[]>;
  readonly incompleteDays: readonly string[];
  readonly changed: readonly KeptChange[];
}

const readRun = async (readRange: ReadRange, run: Run, settledId: string): Promise<RunSums> => {
  const sums = new Map<string, CellSums>(run.map(({ day, kept }) => [day, createDaySums(kept?.cells)]));
  const readDays = new Set<string>();
  const take: Take = (requestId, charged) => {
    const day = run.findLast(({ startId }) => startId <= requestId)?.day ?? '';
    readDays.add(day);
    if (charged) sums.get(day)?.add(charged);
  };
  const [first] = run;
  const startId = first.kept?.fromId ?? first.startId;
  const endId = run.at(-1)?.endId ?? first.endId;
  const settledEndId = settledId < endId ? settledId : endId;
  const cutId = await readRange(startId, settledEndId, take);
  const throughId = cutId ?? (settledEndId < startId ? startId : settledEndId);
  const changed = changesOf(run, sums, readDays, throughId);
  const nextId = cutId ?? (await readRange(throughId, endId, take));
  return {
    cells: new Map([...sums].map(([day, one]) => [day, one.cells()])),
    incompleteDays: nextId === undefined ? [] : run.filter((day) => day.endId > nextId).map(({ day }) => day),
    changed,
  };
};

/** Returns the sums to store after a read through an id. No request before it can be charged any more. */
const changesOf = (
  run: Run,
  sums: ReadonlyMap<string, CellSums>,
  readDays: ReadonlySet<string>,
  throughId: string,
): readonly KeptChange[] =>
  run.flatMap(({ day, startId, endId, kept }) => {
    const isComplete = endId <= throughId;
    const isAhead = throughId > (kept?.fromId ?? startId);
    // A day without requests costs no records when it is read again, so it needs no stored sums.
    const isWorthIt = readDays.has(day) || (isComplete && kept !== undefined);
    if (!isAhead || !isWorthIt) return [];
    const cells = sums.get(day)?.cells() ?? [];
    const change: UsageSums = { period: day, cells, ...(!isComplete && { fromId: throughId }) };
    return [{ sums: change, seenId: kept?.fromId }];
  });

/** If this write fails, the next call reads the records again. */
const keep = async (
  { records }: SummaryDependencies,
  accountId: string,
  { sums, seenId }: KeptChange,
): Promise<void> => {
  try {
    await records.keepUsageSums(accountId, sums, seenId);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
};

/** Records that one step of the search reads, and all its steps at most. */
const SAMPLE = 20;
const SEARCH_MAX = 500;

/**
 * Returns an id before the first charged request whose record has its API key. Every release since has recorded it, so a
 * search by halves skips a long history. Starts a day earlier, because processes of two releases can run together.
 */
const firstKeyedId = async ({ records, clock }: SummaryDependencies, accountId: string): Promise<string> => {
  let lowMs = 0;
  let highMs = clock.now();
  while (highMs - lowMs > DAY_MS) {
    const middleMs = Math.floor((lowMs + highMs) / 2);
    const page = await records.listRecords(accountId, { beforeHoldId: firstIdAt(middleMs), limit: SAMPLE });
    const charged = page.records.filter(({ outcome }) => outcome === 'settled');
    const isUnkeyed = charged.length > 0 && charged.every(({ keyId }) => keyId === undefined);
    if (page.records.length === 0 || isUnkeyed) lowMs = middleMs;
    else highMs = middleMs;
  }
  return firstIdAt(lowMs - DAY_MS);
};

export interface KeySpend {
  /** Pico-USD of charged requests by the public id of the API key, also of replaced keys. */
  readonly picos: ReadonlyMap<string, bigint>;
  /** Whether every request is included. If not, the next call continues. */
  readonly isComplete: boolean;
}

/**
 * Sums the charges of each API key since the account exists. Records of releases that did not record the key count for
 * none. Reads at most 5,000 records that no earlier call has read. Throws StoreError.
 */
export const spentByKey = async (deps: SummaryDependencies, accountId: string): Promise<KeySpend> => {
  const account = await deps.store.readAccount(accountId);
  if (!account) return { picos: new Map(), isComplete: true };
  const [kept] = await deps.records.usageSums(accountId, KEYS_PERIOD, KEYS_PERIOD);
  const readRange = createReadRange(deps, accountId, RECORDS_MAX - (kept ? 0 : SEARCH_MAX));
  const sums = createKeySums(kept?.cells);
  const settledId = settledBefore(account, deps.clock.now());
  const startId = kept?.fromId ?? (await firstKeyedId(deps, accountId));
  let hasRead = false;
  const take: Take = (_requestId, charged) => {
    hasRead = true;
    if (charged) sums.add(charged);
  };
  const cutId = await readRange(startId, settledId, take);
  const throughId = cutId ?? (settledId < startId ? startId : settledId);
  if (hasRead) {
    const change = { period: KEYS_PERIOD, cells: sums.cells(), fromId: throughId };
    await keep(deps, accountId, { sums: change, seenId: kept?.fromId });
  }
  const nextId = cutId ?? (await readRange(throughId, END, take));
  return {
    picos: new Map(sums.cells().map(({ keyId = '', amountPicos }) => [keyId, amountPicos])),
    isComplete: nextId === undefined,
  };
};

/**
 * Returns the charges of each API key in pico-USD, for lists of keys. Undefined while records remain that no call has
 * read. Throws StoreError.
 */
export const createSpentByKey =
  (deps: SummaryDependencies) =>
  async (accountId: string): Promise<ReadonlyMap<string, bigint> | undefined> => {
    const { picos, isComplete } = await spentByKey(deps, accountId);
    return isComplete ? picos : undefined;
  };
