import { forEachConcurrent } from '../concurrency.ts';
import { firstIdAt } from '../request-id.ts';
import { LATE_MAX } from './late-charges.ts';
import type { Account, ChargeRecord } from './ledger.ts';
import { ignoreStoreError, nextSums, type Period, positionOf, type SummaryDependencies } from './usage-periods.ts';
import type { CellSums, UsageCell, UsageSums } from './usage-sums.ts';

/** Limit on the records of one call, as of a statement. */
export const RECORDS_MAX = 5_000;
const PAGE = 1_000;

/** Newest records that each call reads again. If there are more, the next call stores the sums of the others. */
const TAIL_MAX = 1_000;

/**
 * Age from which requests are stored, in ms. Younger ones can have no hold yet, or an open one: then their charges are
 * late charges, which cost a further write.
 */
const QUIET_MS = 900_000;

/** Returns the lowest id after a hold id. */
const idAfter = (holdId: string): string => `${holdId}!`;

export interface PeriodSums {
  readonly cells: readonly UsageCell[];
  /** Whether every record was read. If not, the next call continues. */
  readonly isComplete: boolean;
}

/**
 * Sums the charged requests of periods (BILL-23). Stored sums cover the records below an id of the account,
 * `countedToId`. Once the account has that id, every charge with a lower id that is not in the sums has an open hold or
 * is a late charge. So an open hold, or a clock that was set back, stops nothing, and each record is added once. The
 * account was read before the periods, which are in their order. Throws StoreError.
 */
export const readPeriods = async (
  deps: SummaryDependencies,
  account: Account,
  periods: readonly Period[],
  recordsMax: number = RECORDS_MAX,
): Promise<ReadonlyMap<string, PeriodSums>> => {
  const runs = runsOf(periods);
  const { countedToId = '' } = await countQuiet(deps, account, runs);
  const read = await readRuns(deps, account.id, runs, recordsMax);
  const rest = await readRest(deps, account, periods);
  const reached = new Map(
    read.flatMap(({ periods: some, reachedId }) => some.map((period) => [period, reachedId] as const)),
  );
  const records = read.flatMap((run) => run.records);
  if (rest.isWhole) await store(deps, account.id, { read, rest, countedToId });
  const isCut = read.some(({ untilId, reachedId }) => reachedId < untilId);
  await countNext(deps, account.id, { records, countedToId, isCut });
  return new Map(
    periods.map((period) => {
      const reachedId = reached.get(period) ?? period.endId;
      const sums = addTo(period, records, reachedId);
      for (const charge of rest.charges)
        if (charge.holdId >= period.startId && charge.holdId < positionOf(period)) sums.add(charge);
      const isComplete = reachedId >= period.endId && (rest.isWhole || period.endId <= rest.lastId);
      return [period.name, { cells: sums.cells(), isComplete }];
    }),
  );
};

/** Consecutive periods that one range reads, without those that were read already. */
interface Run {
  readonly fromId: string;
  readonly untilId: string;
  readonly periods: readonly Period[];
}

const runsOf = (periods: readonly Period[]): readonly Run[] => {
  const runs: Run[] = [];
  for (const period of periods) {
    const fromId = positionOf(period);
    if (fromId >= period.endId) continue;
    const last = runs.at(-1);
    if (last?.untilId === fromId)
      runs.splice(-1, 1, { ...last, untilId: period.endId, periods: [...last.periods, period] });
    else runs.push({ fromId, untilId: period.endId, periods: [period] });
  }
  return runs;
};

/**
 * Moves `countedToId` to the newest record that is old enough to be stored. Writes nothing if there is none. Returns the
 * account as it was before any record of the runs is read.
 */
const countQuiet = async ({ records, clock }: SummaryDependencies, account: Account, runs: readonly Run[]) => {
  const { countedToId = '' } = account;
  const quietId = firstIdAt(clock.now() - QUIET_MS);
  const fromId = runs[0]?.fromId ?? '';
  const untilId = runs.at(-1)?.untilId ?? '';
  const beforeHoldId = untilId < quietId ? untilId : quietId;
  if (beforeHoldId <= countedToId || beforeHoldId <= fromId) return account;
  const { records: newest } = await records.listRecords(account.id, { fromHoldId: fromId, beforeHoldId, limit: 1 });
  const id = newest[0] && idAfter(newest[0].holdId);
  return id !== undefined && id > countedToId ? ((await records.countTo(account.id, id)) ?? account) : account;
};

interface ReadRun extends Run {
  /** In the order of their ids. */
  readonly records: readonly ChargeRecord[];
  /** Id up to which the records were read. */
  readonly reachedId: string;
}

/** Reads the oldest records first. The runs share the limit. */
const readRuns = async (
  { records }: SummaryDependencies,
  accountId: string,
  runs: readonly Run[],
  recordsMax: number,
): Promise<readonly ReadRun[]> => {
  let left = recordsMax;
  const read: ReadRun[] = [];
  for (const run of runs) {
    const found: ChargeRecord[] = [];
    let reachedId = run.fromId;
    while (reachedId < run.untilId && left > 0) {
      const limit = Math.min(PAGE, left);
      const range = { fromHoldId: reachedId, beforeHoldId: run.untilId, limit, isOldestFirst: true } as const;
      const page = await records.listRecords(accountId, range);
      left -= page.records.length;
      found.push(...page.records);
      const last = page.records.at(-1);
      reachedId = page.more && last ? idAfter(last.holdId) : run.untilId;
    }
    read.push({ ...run, records: found, reachedId });
  }
  return read;
};

/** Charges beside the records that were read: their ids are below the positions of the sums. */
interface Rest {
  /** Late charges, and charges whose hold is still open. */
  readonly charges: readonly ChargeRecord[];
  /** Ids of late charges and open holds. They are in no sums, and become or are late charges. */
  readonly holdIds: ReadonlySet<string>;
  /** Whether these are all late charges. If not, `lastId` is the highest one. */
  readonly isWhole: boolean;
  readonly lastId: string;
}

/** Reads the account before the late charges: a hold that is closed in between is in both, and never in none. */
const readRest = async (deps: SummaryDependencies, before: Account, periods: readonly Period[]): Promise<Rest> => {
  const { holds } = (await deps.store.readAccount(before.id)) ?? before;
  const late = await deps.records.lateCharges(before.id, LATE_MAX);
  const charges = new Map(late.map((charge) => [charge.holdId, charge]));
  const passed = [...holds.keys()].filter((holdId) =>
    periods.some((period) => holdId >= period.startId && holdId < positionOf(period)),
  );
  await forEachConcurrent(passed, async (holdId) => {
    const record = await deps.store.readRecord(before.id, holdId);
    if (record?.outcome === 'settled') charges.set(holdId, record);
  });
  return {
    charges: [...charges.values()],
    holdIds: new Set([...holds.keys(), ...late.map(({ holdId }) => holdId)]),
    isWhole: late.length < LATE_MAX,
    lastId: late.at(-1)?.holdId ?? '',
  };
};

const isBetween = ({ holdId }: ChargeRecord, fromId: string, untilId: string): boolean =>
  holdId >= fromId && holdId < untilId;

/** Returns the kept sums of a period with the records from their position up to an id. */
const addTo = (
  period: Period,
  records: readonly ChargeRecord[],
  untilId: string,
  without: ReadonlySet<string> = new Set(),
): CellSums => {
  const sums = period.createSums(period.kept?.cells);
  const fromId = positionOf(period);
  const endId = untilId < period.endId ? untilId : period.endId;
  for (const record of records)
    if (record.outcome === 'settled' && isBetween(record, fromId, endId) && !without.has(record.holdId))
      sums.add(record);
  return sums;
};

interface Reading {
  readonly read: readonly ReadRun[];
  readonly rest: Rest;
  readonly countedToId: string;
}

/** Stores the sums of the records below `countedToId`. */
const store = async (
  { records }: SummaryDependencies,
  accountId: string,
  { read, rest, countedToId }: Reading,
): Promise<void> => {
  const changed: UsageSums[] = [];
  for (const run of read) {
    const untilId = run.reachedId < countedToId ? run.reachedId : countedToId;
    for (const period of run.periods) {
      const fromId = positionOf(period);
      const isRead = run.records.some((record) => isBetween(record, fromId, untilId) && record.holdId < period.endId);
      // A day without requests costs no records when it is read again, so it needs no stored sums.
      if (!isRead && !(period.kept && period.endId <= untilId)) continue;
      const sums = addTo(period, run.records, untilId, rest.holdIds);
      changed.push(nextSums(period, sums.cells(), untilId));
    }
  }
  // If a write fails, the next call reads the records again.
  await forEachConcurrent(changed, (sums) => ignoreStoreError(records.keepUsageSums(accountId, [sums])));
};

interface Tail {
  readonly records: readonly ChargeRecord[];
  readonly countedToId: string;
  readonly isCut: boolean;
}

/** If the records above `countedToId` are many, moves it up, so that the next call stores their sums. */
const countNext = async (
  deps: SummaryDependencies,
  accountId: string,
  { records, countedToId, isCut }: Tail,
): Promise<void> => {
  const tail = records.filter(({ holdId }) => holdId >= countedToId);
  const last = isCut ? tail.at(-1) : tail.at(-TAIL_MAX - 1);
  if (last) await ignoreStoreError(deps.records.countTo(accountId, idAfter(last.holdId)));
};
