import type { Account } from './account.ts';
import type { ChargeRecord } from './charge-record.ts';

export interface HoldRequest {
  readonly accountId: string;
  readonly holdId: string;
  readonly amountPicos: bigint;
  readonly expiresAtMs: number;
  /** When the sweeper looks at this account next, unless it already has a time. */
  readonly sweepAtMs: number;
  /** The id tried before this one; while it is held, this one is refused. */
  readonly previousHoldId: string | undefined;
}

export type HoldReply =
  | { readonly kind: 'held'; readonly account: Account }
  /** The condition failed; this is the item as it stood. */
  | { readonly kind: 'refused'; readonly account: Account }
  | { readonly kind: 'no-account' };

export type RecordReply =
  | { readonly kind: 'written' }
  /** Somebody was first: this record is the one that counts. */
  | { readonly kind: 'exists'; readonly record: ChargeRecord };

export interface CreditRequest {
  readonly accountId: string;
  readonly ref: string;
  readonly amountPicos: bigint;
  readonly reason: string;
  readonly at: number;
}

export type CreditReply =
  | { readonly kind: 'credited' | 'repeated' }
  | { readonly kind: 'other-amount'; readonly amountPicos: bigint }
  | { readonly kind: 'no-account' };

export interface Due {
  readonly accountId: string;
}

/**
 * The durable half of the ledger. Every method is one call to the store, and throws StoreError when that call brought no
 * definite answer; none repeats a call by itself.
 */
export interface LedgerStore {
  /** Sent once and never again under the same hold id. */
  hold(request: HoldRequest): Promise<HoldReply>;
  putRecord(record: ChargeRecord): Promise<RecordReply>;
  /**
   * Moves the hold's money as the record says and closes the hold, if a hold of that amount is open.
   * Answers the account after the write, or undefined when there was nothing to close.
   */
  apply(record: ChargeRecord, holdAmountPicos: bigint): Promise<Account | undefined>;
  /** A consistent read. */
  readAccount(accountId: string): Promise<Account | undefined>;
  readRecord(accountId: string, holdId: string): Promise<ChargeRecord | undefined>;
  createAccount(accountId: string): Promise<'created' | 'exists'>;
  credit(request: CreditRequest): Promise<CreditReply>;
  /** Accounts whose time to be swept has come. */
  due(nowMs: number): Promise<readonly Due[]>;
  /** Sets the account's next sweep, or takes it off the list if it has no open hold. */
  reschedule(accountId: string, sweepAtMs: number | undefined): Promise<void>;
}
