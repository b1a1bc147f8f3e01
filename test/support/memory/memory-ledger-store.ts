import { refusalOf, type UncollectedOfDay } from '../../../lambdas/core/ledger/allowance.ts';
import { type CapChange, type Caps, changeCap, holdInCap } from '../../../lambdas/core/ledger/caps.ts';
import { beginMonth, changeCredit } from '../../../lambdas/core/ledger/change-credit.ts';
import { closeHold, isLate } from '../../../lambdas/core/ledger/close-hold.ts';
import { type CreditRecord, changeOf, isRepeat, returnOf } from '../../../lambdas/core/ledger/credit-record.ts';
import type {
  ChargeRecord,
  CreditReply,
  CreditRequest,
  CreditTarget,
  Due,
  HoldReply,
  HoldRequest,
  LedgerStore,
  RecordReply,
} from '../../../lambdas/core/ledger/ledger.ts';
import { type Account, type AccountStatus, HOLDS_MAX, type Hold, holdOf } from '../../../lambdas/core/ledger/ledger.ts';
import { closingsBefore, type MonthCharges, type MonthClosing, monthOf } from '../../../lambdas/core/ledger/month.ts';
import type { AccountPlace, LedgerRecords, RecordPage, RecordRange } from '../../../lambdas/core/ledger/records.ts';
import type { UsageSums } from '../../../lambdas/core/ledger/usage-sums.ts';

interface Row {
  readonly id: string;
  status: AccountStatus;
  available: bigint;
  credited: bigint;
  returned: bigint;
  spent: bigint;
  month: string | undefined;
  version: number;
  sweepAtMs: number | undefined;
  readonly holds: Map<string, Hold>;
  readonly records: Map<string, ChargeRecord>;
  readonly credits: Map<string, CreditRecord>;
  readonly closings: MonthClosing[];
  readonly charges: Map<string, MonthCharges>;
  uncollected?: UncollectedOfDay | undefined;
  probationUntil?: bigint | undefined;
  caps: Caps;
  countedToId?: string | undefined;
  /** Ids of late charges. */
  readonly late: Set<string>;
}

/**
 * In-memory fake of the ledger. Every method checks its condition and writes in one synchronous step. Calls can
 * interleave between these steps, as on the real table, and nowhere else.
 */
export class MemoryLedgerStore implements LedgerStore, LedgerRecords {
  readonly #usageSums = new Map<string, Map<string, UsageSums>>();
  readonly #rows = new Map<string, Row>();
  /** Records of ids without an account. The table allows them too. */
  readonly #loose = new Map<string, Map<string, ChargeRecord>>();

  async hold(request: HoldRequest): Promise<HoldReply> {
    const row = this.#rows.get(request.accountId);
    if (!row) return { kind: 'no-account' };
    const caps = holdInCap(row.caps, request.cap, request.amountPicos);
    if (!caps || !mayHold(row, request)) return { kind: 'refused', account: toAccount(row) };
    row.caps = caps;
    row.available -= request.amountPicos;
    row.holds.set(request.holdId, holdOf(request));
    row.sweepAtMs ??= request.sweepAtMs;
    row.version += 1;
    return { kind: 'held', account: toAccount(row) };
  }

  async putRecord(record: ChargeRecord): Promise<RecordReply> {
    const records = this.#recordsFor(record.accountId);
    const present = records.get(record.holdId);
    if (present) return { kind: 'exists', record: structuredClone(present) };
    records.set(record.holdId, asStored(record));
    return { kind: 'written' };
  }

  async apply(record: ChargeRecord, holdAmountPicos: bigint, nowMs: number): Promise<Account | undefined> {
    const row = this.#rows.get(record.accountId);
    const before = row && toAccount(row);
    const after = before && closeHold(before, record, holdAmountPicos, nowMs);
    if (!after) return undefined;
    row.holds.delete(record.holdId);
    if (isLate(before, record)) row.late.add(record.holdId);
    replace(row, after, nowMs, before);
    return after;
  }

  async readAccount(accountId: string): Promise<Account | undefined> {
    const row = this.#rows.get(accountId);
    return row && toAccount(row);
  }

  async readRecord(accountId: string, holdId: string): Promise<ChargeRecord | undefined> {
    return structuredClone(this.#recordsFor(accountId).get(holdId));
  }

  async createAccount(accountId: string, nowMs: number): Promise<'created' | 'exists'> {
    if (this.#rows.has(accountId)) return 'exists';
    this.#rows.set(accountId, {
      id: accountId,
      status: 'active',
      available: 0n,
      credited: 0n,
      returned: 0n,
      spent: 0n,
      month: monthOf(nowMs),
      version: 0,
      sweepAtMs: undefined,
      holds: new Map(),
      records: this.#recordsFor(accountId),
      credits: new Map(),
      closings: [],
      charges: new Map(),
      caps: new Map(),
      late: new Set(),
    });
    return 'created';
  }

  async credit(request: CreditRequest): Promise<CreditReply> {
    const { accountId, ref, type = 'credit', amountPicos, reason, at, of, target, isCovered } = request;
    const row = this.#rows.get(accountId);
    if (!row) return { kind: 'no-account' };
    const record: CreditRecord = { ref, type, amountPicos, reason, at, ...(of === undefined ? {} : { of }) };
    const present = row.credits.get(ref);
    if (present) return isRepeat(present, record) ? { kind: 'repeated' } : { kind: 'other-values', record: present };
    if (isCovered && row.available < amountPicos) return { kind: 'not-covered', availablePicos: row.available };
    if (target && !changeTarget(row.credits, record, target)) return { kind: 'not-returnable' };
    const before = toAccount(row);
    const after = changeCredit(before, record, at);
    row.credits.set(ref, { ...record, ...(after.month !== undefined && { month: after.month }) });
    replace(row, after, at, before);
    return { kind: 'credited' };
  }

  async closeMonths(accountId: string, nowMs: number): Promise<Account | undefined> {
    const row = this.#rows.get(accountId);
    if (!row) return undefined;
    const before = toAccount(row);
    const after = beginMonth(before, nowMs);
    if (after !== before) replace(row, after, nowMs, before);
    return after;
  }

  /** Writes an account that was computed from `before`. Returns false if it has changed since. */
  replaceAccount(before: Account, after: Account, nowMs: number): boolean {
    const row = this.#rows.get(before.id);
    if (row?.version !== before.version) return false;
    replace(row, after, nowMs, before);
    return true;
  }

  async due(nowMs: number, latestMs = Number.POSITIVE_INFINITY): Promise<readonly Due[]> {
    const rows = [...this.#rows.values()].filter(
      ({ sweepAtMs }) => sweepAtMs !== undefined && (sweepAtMs <= nowMs || sweepAtMs > latestMs),
    );
    return rows.map((row) => ({ accountId: row.id }));
  }

  async reschedule(accountId: string, sweepAtMs: number | undefined, dueMs: number): Promise<void> {
    const row = this.#rows.get(accountId);
    if (!row || (sweepAtMs === undefined && row.holds.size > 0)) return;
    const present = row.sweepAtMs;
    if (sweepAtMs !== undefined && present !== undefined && present > dueMs && present < sweepAtMs) return;
    row.sweepAtMs = sweepAtMs;
    row.version += 1;
  }

  async clearUncollected(accountId: string): Promise<boolean> {
    const row = this.#rows.get(accountId);
    if (!row) return false;
    row.uncollected = undefined;
    row.probationUntil = undefined;
    row.version += 1;
    return true;
  }

  async sweepBy(accountId: string, sweepAtMs: number): Promise<void> {
    const row = this.#rows.get(accountId);
    if (!row || (row.sweepAtMs !== undefined && row.sweepAtMs <= sweepAtMs)) return;
    row.sweepAtMs = sweepAtMs;
    row.version += 1;
  }

  async listRecords(accountId: string, range: RecordRange): Promise<RecordPage> {
    const { fromHoldId = '', beforeHoldId, limit, isOldestFirst } = range;
    const within = newestFirst(this.recordsOf(accountId)).filter(
      ({ holdId }) => holdId >= fromHoldId && (beforeHoldId === undefined || holdId < beforeHoldId),
    );
    if (isOldestFirst) within.reverse();
    return { records: within.slice(0, limit), more: within.length > limit };
  }

  async recordsOfRequest(accountId: string, requestId: string): Promise<readonly ChargeRecord[]> {
    return this.recordsOf(accountId).filter(({ holdId }) => holdId.startsWith(`${requestId}.`));
  }

  async readCredits(accountId: string): Promise<readonly CreditRecord[]> {
    return this.creditRecordsOf(accountId);
  }

  async creditsOfMonth(accountId: string, month: string): Promise<readonly CreditRecord[]> {
    return this.creditRecordsOf(accountId)
      .filter((record) => record.month === month)
      .map(({ returnedPicos: _returned, reversedBy: _reversedBy, ...record }) => record)
      .toSorted((one, other) => (one.ref < other.ref ? -1 : 1));
  }

  async closings(accountId: string, throughMonth: string, limit?: number): Promise<readonly MonthClosing[]> {
    const closings = this.#rows.get(accountId)?.closings ?? [];
    return closings
      .filter(({ month }) => month <= throughMonth)
      .toReversed()
      .slice(0, limit);
  }

  async firstClosing(accountId: string): Promise<MonthClosing | undefined> {
    return this.#rows.get(accountId)?.closings[0];
  }

  async readCharges(accountId: string, month: string): Promise<MonthCharges | undefined> {
    return this.#rows.get(accountId)?.charges.get(month);
  }

  async keepCharges(
    accountId: string,
    month: string,
    charges: MonthCharges,
    seenHoldId?: string,
  ): Promise<MonthCharges> {
    const kept = this.#rows.get(accountId)?.charges;
    const present = kept?.get(month);
    const isSeen = !present || (seenHoldId !== undefined && present.beforeHoldId === seenHoldId);
    if (!isSeen) return present;
    kept?.set(month, charges);
    return charges;
  }

  async usageSums(accountId: string, fromPeriod: string, toPeriod: string): Promise<readonly UsageSums[]> {
    return structuredClone([...(this.#usageSums.get(accountId)?.values() ?? [])])
      .filter(({ period }) => period >= fromPeriod && period <= toPeriod)
      .toSorted((one, other) => (one.period < other.period ? -1 : 1));
  }

  async countTo(accountId: string, id: string): Promise<Account | undefined> {
    const row = this.#rows.get(accountId);
    if (!row) return undefined;
    if ((row.countedToId ?? '') < id) {
      row.countedToId = id;
      row.version += 1;
    }
    return toAccount(row);
  }

  async lateCharges(accountId: string, limit: number): Promise<readonly ChargeRecord[]> {
    const row = this.#rows.get(accountId);
    return [...(row?.late ?? [])]
      .sort()
      .slice(0, limit)
      .flatMap((holdId) => structuredClone(row?.records.get(holdId)) ?? []);
  }

  async keepUsageSums(
    accountId: string,
    sums: readonly UsageSums[],
    lateHoldIds: readonly string[] = [],
  ): Promise<boolean> {
    const kept = this.#usageSums.get(accountId) ?? new Map<string, UsageSums>();
    this.#usageSums.set(accountId, kept);
    const late = this.#rows.get(accountId)?.late;
    if (sums.some(({ period, revision }) => revision !== (kept.get(period)?.revision ?? 0) + 1)) return false;
    if (!lateHoldIds.every((holdId) => late?.has(holdId))) return false;
    for (const one of sums) kept.set(one.period, structuredClone(one));
    for (const holdId of lateHoldIds) late?.delete(holdId);
    return true;
  }

  async *accountPlaces(after?: string): AsyncGenerator<AccountPlace, void> {
    const ids = [...this.#rows.keys()];
    const wanted = after === undefined ? ids : ids.slice(ids.indexOf(after) + 1);
    for (const accountId of wanted) yield { accountId, place: accountId };
  }

  /** Blocks or unblocks an account, as an operator does. */
  setStatus(accountId: string, status: AccountStatus): void {
    const row = this.#rows.get(accountId);
    if (!row) throw new Error(`there is no account ${accountId}`);
    row.status = status;
    row.version += 1;
  }

  /** Changes the cap of an API key, as the owner does. */
  setCap(accountId: string, keyId: string, change: CapChange | undefined, nowMs: number): void {
    const row = this.#rows.get(accountId);
    if (!row) throw new Error(`there is no account ${accountId}`);
    const { caps, version } = changeCap(row, keyId, change, nowMs);
    row.caps = caps;
    row.version = version;
  }

  /** Writes the caps of an account, as a newer release leaves them. */
  replaceCaps(accountId: string, caps: Caps): void {
    const row = this.#rows.get(accountId);
    if (row) row.caps = caps;
  }

  /** Removes the month of an account, as an earlier release leaves it. */
  forgetMonth(accountId: string): void {
    const row = this.#rows.get(accountId);
    if (!row) return;
    row.month = undefined;
    row.returned = 0n;
  }

  has(accountId: string): boolean {
    return this.#rows.has(accountId);
  }

  statusOf(accountId: string): AccountStatus | undefined {
    return this.#rows.get(accountId)?.status;
  }

  /** Changes the version of an account without changing its money. */
  touch(accountId: string): void {
    const row = this.#rows.get(accountId);
    if (row) row.version += 1;
  }

  sweepAtOf(accountId: string): number | undefined {
    return this.#rows.get(accountId)?.sweepAtMs;
  }

  accounts(): readonly Account[] {
    return [...this.#rows.values()].map(toAccount);
  }

  recordsOf(accountId: string): readonly ChargeRecord[] {
    return [...this.#recordsFor(accountId).values()].map((record) => structuredClone(record));
  }

  /** Returns changes of the account's credit in pico-USD by reference. */
  creditsOf(accountId: string): ReadonlyMap<string, bigint> {
    const credits = this.#rows.get(accountId)?.credits.values() ?? [];
    return new Map([...credits].map((record) => [record.ref, changeOf(record)]));
  }

  /** Returns the closings, the oldest first. */
  closingsOf(accountId: string): readonly MonthClosing[] {
    return [...(this.#rows.get(accountId)?.closings ?? [])];
  }

  creditRecordsOf(accountId: string): readonly CreditRecord[] {
    return structuredClone([...(this.#rows.get(accountId)?.credits.values() ?? [])]);
  }

  #recordsFor(accountId: string): Map<string, ChargeRecord> {
    const present = this.#rows.get(accountId)?.records ?? this.#loose.get(accountId) ?? new Map<string, ChargeRecord>();
    this.#loose.set(accountId, present);
    return present;
  }
}

/** Sorts by hold id. Hold ids are ASCII, so comparing strings equals comparing bytes, as the table does. */
const newestFirst = (records: readonly ChargeRecord[]): ChargeRecord[] =>
  records.toSorted((one, other) => (one.holdId < other.holdId ? 1 : -1));

/** Whether the target may change. Then it is changed. */
const changeTarget = (
  credits: Map<string, CreditRecord>,
  record: CreditRecord,
  { creditRef, creditAmountPicos, chargebackRef }: CreditTarget,
): boolean => {
  const credit = credits.get(creditRef);
  const returnedPicos = (credit?.returnedPicos ?? 0n) + returnOf(record);
  if (credit?.amountPicos !== creditAmountPicos || returnedPicos > creditAmountPicos) return false;
  if (chargebackRef !== undefined) {
    const chargeback = credits.get(chargebackRef);
    const isOpen = chargeback?.type === 'chargeback' && chargeback.reversedBy === undefined;
    if (!isOpen || chargeback.amountPicos !== record.amountPicos) return false;
    credits.set(chargebackRef, { ...chargeback, reversedBy: record.ref });
  }
  credits.set(creditRef, { ...credit, returnedPicos });
  return true;
};

const mayHold = (row: Row, { amountPicos, holdId, previousHoldId, allowance }: HoldRequest): boolean =>
  row.status === 'active' &&
  row.credited > row.spent &&
  row.available >= amountPicos &&
  !row.holds.has(holdId) &&
  row.holds.size < HOLDS_MAX &&
  (previousHoldId === undefined || !row.holds.has(previousHoldId)) &&
  refusalOf(toAccount(row), allowance) === undefined;

const replace = (row: Row, after: Account, nowMs: number, before: Account): void => {
  row.closings.push(...closingsBefore(before, nowMs));
  row.available = after.availablePicos;
  row.credited = after.creditedPicos;
  row.returned = after.returnedPicos;
  row.spent = after.spentPicos;
  row.month = after.month;
  row.version = after.version;
  row.uncollected = after.uncollected;
  row.probationUntil = after.probationUntilPicos;
  row.caps = after.caps;
};

const toAccount = (row: Row): Account => ({
  id: row.id,
  status: row.status,
  availablePicos: row.available,
  creditedPicos: row.credited,
  returnedPicos: row.returned,
  spentPicos: row.spent,
  ...(row.month !== undefined && { month: row.month }),
  holds: new Map(row.holds),
  version: row.version,
  ...(row.uncollected && { uncollected: row.uncollected }),
  ...(row.probationUntil !== undefined && { probationUntilPicos: row.probationUntil }),
  caps: row.caps,
  ...(row.countedToId !== undefined && { countedToId: row.countedToId }),
});

/** Returns the record without false flags and undefined fields, as the table stores it. */
const asStored = (record: ChargeRecord): ChargeRecord => {
  const {
    overage,
    implausible,
    usesAllowance,
    silentDeadline,
    reason,
    model,
    usage,
    prices,
    answer,
    endUser,
    ...always
  } = record;
  return structuredClone({
    ...always,
    ...(reason === undefined ? {} : { reason }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    ...(prices === undefined ? {} : { prices }),
    ...(overage ? { overage } : {}),
    ...(implausible ? { implausible } : {}),
    ...(usesAllowance ? { usesAllowance } : {}),
    ...(silentDeadline ? { silentDeadline } : {}),
    ...(answer === undefined ? {} : { answer }),
    ...(endUser === undefined ? {} : { endUser }),
  });
};
