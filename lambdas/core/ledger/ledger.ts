import type { Clock } from '../clock.ts';
import type { MoneyMeter } from '../metrics.ts';

/** One open reservation of money. */
export interface Hold {
  readonly amountPicos: bigint;
  /** Unix milliseconds. A hold is released by the sweeper once this has passed. */
  readonly expiresAtMs: number;
}

export type AccountStatus = 'active' | 'blocked';

/**
 * The account item. In every state of it: balance = available + sum of open holds = credited - spent.
 * All amounts are pico-USD.
 */
export interface Account {
  readonly id: string;
  readonly status: AccountStatus;
  readonly availablePicos: bigint;
  readonly creditedPicos: bigint;
  readonly spentPicos: bigint;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Rises by one with every write. */
  readonly version: number;
}

/** Open holds an account may have at a time (LIM-8). */
export const HOLDS_MAX = 200;

export const balanceOf = (account: Account): bigint => account.creditedPicos - account.spentPicos;

export const heldOf = (account: Account): bigint => {
  let sum = 0n;
  for (const hold of account.holds.values()) sum += hold.amountPicos;
  return sum;
};

/** What happened to one hold, written once and never changed. Its first write is the commit of the request. */
export interface ChargeRecord {
  readonly accountId: string;
  readonly holdId: string;
  readonly requestId: string;
  readonly outcome: 'settled' | 'released';
  /** 0 when released. Pico-USD. */
  readonly amountPicos: bigint;
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason?: string;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
  /** Pico-USD per unit at the time of the hold. */
  readonly prices?: Readonly<Record<string, bigint>>;
  /** The charge was more than the hold (BILL-7). */
  readonly overage?: boolean;
  /** Counts that could not be true were charged at their bound (BILL-7). */
  readonly implausible?: boolean;
  /** Hash of the stored answer that this record commits, when the request had an Idempotency-Key (IDEM-8). */
  readonly answer?: string;
  /** The client's own name for its end user (CHAT-15). */
  readonly endUser?: string;
  /** Names of the request's fields that were ignored (GEN-16). */
  readonly ignored?: readonly string[];
}

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
  /** The condition failed; this is the present item. */
  | { readonly kind: 'refused'; readonly account: Account }
  | { readonly kind: 'no-account' };

export type RecordReply =
  | { readonly kind: 'written' }
  /** Another write came first, and its record counts. */
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

/** A settlement that the ledger's store did not take in time: its answer has gone out, so it has to be charged. */
export interface OutboxEntry {
  /** The record to commit, settled. */
  readonly record: ChargeRecord;
  /** Pico-USD, as the hold was placed. */
  readonly holdAmountPicos: bigint;
}

/**
 * Where settlements wait when the ledger cannot be written: another kind of store, so that both fail together only rarely.
 * One note per hold. Every method is one call and throws StoreError when it brought no definite answer; all are safe to repeat.
 */
export interface Outbox {
  put(note: OutboxEntry): Promise<void>;
  /** Sees every note whose `put` has answered. */
  read(holdId: string): Promise<OutboxEntry | undefined>;
  /** Hold ids of notes that wait, some of them if there are many. */
  list(): Promise<readonly string[]>;
  remove(holdId: string): Promise<void>;
}

export interface LedgerDependencies {
  readonly store: LedgerStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** From 0 up to 1: spreads the repeats of many callers. */
  readonly random: () => number;
  /** No hold lives shorter than this. Bounds how soon an account with open holds is looked at. */
  readonly shortestLifetimeMs: number;
  /** Undefined if no meter is used. */
  readonly meter?: MoneyMeter;
}

/** Called by the code that closed the hold, so once per hold. */
export const meterResolved = (
  meter: MoneyMeter,
  { outcome, amountPicos }: ChargeRecord,
  holdAmountPicos: bigint,
): void => {
  if (outcome === 'released') meter({ released: holdAmountPicos });
  else if (amountPicos > holdAmountPicos) meter({ charged: amountPicos, overage: amountPicos - holdAmountPicos });
  else meter({ charged: amountPicos, released: holdAmountPicos - amountPicos });
};
