import type { CreditRecord } from './credit-record.ts';
import type { Account, ChargeRecord } from './ledger.ts';
import type { MonthCharges, MonthClosing } from './month.ts';
import type { UsageSums } from './usage-sums.ts';

export interface RecordRange {
  /** Oldest hold id to return. Hold ids start with a ULID, so their order is that of their requests. */
  readonly fromHoldId?: string | undefined;
  /** Only ids before this one. */
  readonly beforeHoldId?: string | undefined;
  readonly limit: number;
  /** Whether the oldest records of the range come first. Undefined: the newest ones. */
  readonly isOldestFirst?: boolean;
}

export interface RecordPage {
  /** Newest request first; of one request, the last id first. The opposite order with `isOldestFirst`. */
  readonly records: readonly ChargeRecord[];
  /** Whether there are more records in the range. */
  readonly more: boolean;
}

/** A stored charge record by its key. `record` is undefined if it cannot be read. */
export interface WrittenCharge {
  readonly accountId: string;
  readonly holdId: string;
  readonly record: ChargeRecord | undefined;
}

/** Position of a read of all accounts. */
export interface AccountPlace {
  /** Undefined if a read found no account. */
  readonly accountId?: string;
  /** Place from which the store continues. Opaque to callers. */
  readonly place: string;
}

/**
 * Records of the ledger, for receipts and audits. Every method sees all writes that came before the call. Only `keepCharges`,
 * `countTo` and `keepUsageSums` write. Throws StoreError if the result is unknown, and Error if an item cannot be read.
 */
export interface LedgerRecords {
  listRecords(accountId: string, range: RecordRange): Promise<RecordPage>;
  /** Returns at most one record for each hold id of the request. */
  recordsOfRequest(accountId: string, requestId: string): Promise<readonly ChargeRecord[]>;
  /** Returns every change of the account's credit: payments, refunds, chargebacks, reversals and debits. */
  readCredits(accountId: string): Promise<readonly CreditRecord[]>;
  /** Returns changes of the account's credit that belong to a month. Their later `returned` and `reversedBy` are absent. */
  creditsOfMonth(accountId: string, month: string): Promise<readonly CreditRecord[]>;
  /** Returns the closings up to a month, the newest first. Undefined limit: all. */
  closings(accountId: string, throughMonth: string, limit?: number): Promise<readonly MonthClosing[]>;
  firstClosing(accountId: string): Promise<MonthClosing | undefined>;
  /** Returns the stored charges of a month. Undefined if `keepCharges` has not stored any. */
  readCharges(accountId: string, month: string): Promise<MonthCharges | undefined>;
  /**
   * Stores charges of a closed month that continue the stored ones, whose `beforeHoldId` was `seenHoldId`. Undefined
   * `seenHoldId`: the month had none. Stores nothing if another read was faster, or the stored charges are complete.
   * Returns the charges that are stored then.
   */
  keepCharges(accountId: string, month: string, charges: MonthCharges, seenHoldId?: string): Promise<MonthCharges>;
  /** Returns the stored sums of the periods of a range, both ends included. */
  usageSums(accountId: string, fromPeriod: string, toPeriod: string): Promise<readonly UsageSums[]>;
  /**
   * Moves `countedToId` of the account up to an id, and never back. Returns the account after the write. Undefined
   * without an account.
   */
  countTo(accountId: string, id: string): Promise<Account | undefined>;
  /** Returns the late charges that no sums include yet, the lowest id first. */
  lateCharges(accountId: string, limit: number): Promise<readonly ChargeRecord[]>;
  /**
   * Stores sums that follow the stored ones by their revision, and removes the late charges with these hold ids. Makes
   * all of these writes or none. Returns false, and writes nothing, if another write was faster: sums have another
   * revision, or a late charge is removed already. At most 90 hold ids.
   */
  keepUsageSums(accountId: string, sums: readonly UsageSums[], lateHoldIds?: readonly string[]): Promise<boolean>;
  /**
   * Returns every account in the order of the store, or only the accounts after a place. Reads the whole table, for
   * operator commands and the audit.
   */
  accountPlaces(after?: string): AsyncIterable<AccountPlace>;
}

/** Returns the ids of all accounts. */
export async function* accountIds(records: Pick<LedgerRecords, 'accountPlaces'>): AsyncGenerator<string, void> {
  for await (const { accountId } of records.accountPlaces()) if (accountId !== undefined) yield accountId;
}

/** Action of an operator on an account, or an attempt that a store failure interrupted. Written once, never changed. */
export interface Operation {
  readonly accountId: string;
  /** A ULID, so ids sort by time. */
  readonly id: string;
  /** Command, such as `accounts block`. */
  readonly command: string;
  readonly reason: string;
  readonly ref?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * Log of manual changes to accounts. Every method is one call, safe to repeat, and throws StoreError if the result is
 * not definite.
 */
export interface OperationLog {
  add(operation: Operation): Promise<void>;
  /** Returns the operations of one account, the oldest first. */
  list(accountId: string): Promise<readonly Operation[]>;
}
