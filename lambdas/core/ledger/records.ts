import type { ChargeRecord } from './ledger.ts';

export interface RecordRange {
  /** The oldest hold id that is wanted. Hold ids begin with a ULID, so their order is that of their requests. */
  readonly fromHoldId?: string | undefined;
  /** Only ids before this one. */
  readonly beforeHoldId?: string | undefined;
  readonly limit: number;
}

export interface RecordPage {
  /** Newest request first; of one request, the last id first. */
  readonly records: readonly ChargeRecord[];
  /** There are further ones in the range. */
  readonly more: boolean;
}

export interface CreditRecord {
  readonly ref: string;
  readonly amountPicos: bigint;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** How far the reading of all accounts has come. */
export interface AccountPlace {
  /** Undefined where much was read and no account was in it. */
  readonly accountId?: string;
  /** Place from which the store continues. Opaque to callers. */
  readonly place: string;
}

/**
 * Records of the ledger, for receipts and audits. Every method sees all writes that came before the call, and writes
 * nothing. Throws StoreError if the result is unknown, and Error if an item cannot be read.
 */
export interface LedgerRecords {
  listRecords(accountId: string, range: RecordRange): Promise<RecordPage>;
  /** At most one for each hold id of the request. */
  recordsOfRequest(accountId: string, requestId: string): Promise<readonly ChargeRecord[]>;
  readCredits(accountId: string): Promise<readonly CreditRecord[]>;
  /**
   * Every account there is, in an order of the store's own, or those behind a place that it has named. Reads through the whole table:
   * for an operator's commands and the audit.
   */
  accountPlaces(after?: string): AsyncIterable<AccountPlace>;
}

/** The ids of all accounts. */
export async function* accountIds(records: Pick<LedgerRecords, 'accountPlaces'>): AsyncGenerator<string, void> {
  for await (const { accountId } of records.accountPlaces()) if (accountId !== undefined) yield accountId;
}

/** Something that an operator has done to an account, or was about to do when the store failed. Written once, never changed. */
export interface Operation {
  readonly accountId: string;
  /** A ULID, so that the order of ids is that of time. */
  readonly id: string;
  /** The command, such as `accounts block`. */
  readonly command: string;
  readonly reason: string;
  readonly ref?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Why accounts were changed by hand. Every method is one call, safe to repeat, and throws StoreError without a definite answer. */
export interface OperationLog {
  add(operation: Operation): Promise<void>;
  /** Operations of one account, the oldest first. */
  list(accountId: string): Promise<readonly Operation[]>;
}
