import type { Clock } from '../clock.ts';
import type { MoneyMeter } from '../metrics.ts';
import type { Allowance, AllowanceUse, UncollectedState } from './allowance.ts';
import { type CapCondition, type Caps, type HoldCap, toHoldCap } from './caps.ts';
import type { CreditRecord, CreditType } from './credit-record.ts';
import type { HoldBreaker } from './hold-breaker.ts';
import type { ServedHolds } from './served-holds.ts';

/** An open hold. */
export interface Hold {
  readonly amountPicos: bigint;
  /** Unix milliseconds. After this time the sweeper releases the hold. */
  readonly expiresAtMs: number;
  /**
   * Whether its entry has parts that this release cannot read. The hold counts as open, and only a newer release closes
   * it. If its amount is unreadable, the amount is 0.
   */
  readonly isNewer?: true;
  /** Cap in which the hold and its charge count (KEY-9). */
  readonly cap?: HoldCap;
}

export type AccountStatus = 'active' | 'blocked';

/** Reads a stored status. One of a newer release counts as blocked, because a hold requires `active`. */
export const toAccountStatus = (value: string): AccountStatus => (value === 'active' ? value : 'blocked');

/**
 * The account item. Always: balance = available + sum of open holds = credited - spent. Credited is the net sum of
 * credits and reversals, less refunds, chargebacks and debits. All amounts are pico-USD.
 */
export interface Account extends UncollectedState {
  readonly id: string;
  readonly status: AccountStatus;
  readonly availablePicos: bigint;
  readonly creditedPicos: bigint;
  /** Refunds, chargebacks and debits, less reversals, since statements exist. */
  readonly returnedPicos: bigint;
  readonly spentPicos: bigint;
  /** Calendar month in UTC of the sums, such as `2026-11`. Undefined for an account of an earlier release. */
  readonly month?: string;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Increases by one with every write. */
  readonly version: number;
  /** Caps of its API keys (KEY-9). Most accounts have none. */
  readonly caps: Caps;
  /**
   * Id below which usage sums can be stored (BILL-23). It never moves back. A charge with a lower id, whose hold is closed
   * from then on, is also stored as a late charge. Undefined before the first sums.
   */
  readonly countedToId?: string;
}

/** Maximum number of open holds of an account (LIM-8). */
export const HOLDS_MAX = 200;

export const balanceOf = (account: Account): bigint => account.creditedPicos - account.spentPicos;

export const heldOf = (account: Account): bigint => {
  let sum = 0n;
  for (const hold of account.holds.values()) sum += hold.amountPicos;
  return sum;
};

/** Outcome of a hold, written once and never changed. Writing it commits the request. */
export interface ChargeRecord extends AllowanceUse {
  readonly accountId: string;
  readonly holdId: string;
  readonly requestId: string;
  readonly outcome: 'settled' | 'released';
  /** Outcome of a newer release, as it is stored. `outcome` is then `settled`, whatever the amount is. */
  readonly newerOutcome?: string;
  /** Pico-USD; 0 if released. */
  readonly amountPicos: bigint;
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason?: string;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
  /** Pico-USD per unit at the time of the hold. */
  readonly prices?: Readonly<Record<string, bigint>>;
  /** Whether the charge exceeds the hold (BILL-7). */
  readonly overage?: boolean;
  /** Whether implausible counts were charged at their bound (BILL-7). */
  readonly implausible?: boolean;
  /** Whether the gateway ended the output at a stop sequence (CHAT-17). */
  readonly cutAtStop?: boolean;
  /** Hash of the stored response that this record commits, for a request with an idempotency key (IDEM-8). */
  readonly answer?: string;
  /** End user, as the client names them (CHAT-15). */
  readonly endUser?: string;
  /** Names of the ignored request fields (GEN-16). */
  readonly ignored?: readonly string[];
  /** Public id of the API key. Like the four fields below, undefined in a record of an earlier release. */
  readonly keyId?: string;
  /** Path of the route, such as `/v1/chat/completions`. */
  readonly endpoint?: string;
  /** Provider that the gateway called or was about to call. */
  readonly provider?: string;
  /** Time from the provider call to the start of its response, in ms. Undefined if none started. */
  readonly firstByteMs?: number;
  /** Time from the provider call to the end of its response, in ms. Undefined without a call. */
  readonly totalMs?: number;
  /** Provider's bill for the request by the catalog, in pico-USD. For operators only. */
  readonly costPicos?: bigint;
  /**
   * Cap in which the hold counts, if the writer of the record had it. Every charge of such a hold has it; a release may
   * lack it. The hold decides.
   */
  readonly cap?: HoldCap;
}

/**
 * Reads a stored outcome. One of a newer release counts as settled at its amount, even if that is 0, so that its request
 * is never dispatched again.
 */
export const toOutcome = (value: string): Pick<ChargeRecord, 'outcome' | 'newerOutcome'> =>
  value === 'settled' || value === 'released' ? { outcome: value } : { outcome: 'settled', newerOutcome: value };

export interface HoldRequest {
  readonly accountId: string;
  readonly holdId: string;
  readonly amountPicos: bigint;
  readonly expiresAtMs: number;
  /** Next sweep of this account, unless it already has one. */
  readonly sweepAtMs: number;
  /** Id that was tried before this one. While it is held, this one is rejected. */
  readonly previousHoldId: string | undefined;
  /** Required state of the account's allowance; undefined for requests that do not depend on it. */
  readonly allowance?: Allowance | undefined;
  /** Required state of the cap of the API key; undefined for a key without one. */
  readonly cap?: CapCondition | undefined;
}

/** Returns the hold that a request places. */
export const holdOf = ({ amountPicos, expiresAtMs, cap: condition }: HoldRequest): Hold => {
  const cap = toHoldCap(condition);
  return { amountPicos, expiresAtMs, ...(cap && { cap }) };
};

export type HoldReply =
  | { readonly kind: 'held'; readonly account: Account }
  /** The condition failed; `account` is the present item. */
  | { readonly kind: 'refused'; readonly account: Account }
  | { readonly kind: 'no-account' };

export type RecordReply =
  | { readonly kind: 'written' }
  /** Another write came first, and its record counts. */
  | { readonly kind: 'exists'; readonly record: ChargeRecord };

export interface CreditRequest {
  readonly accountId: string;
  readonly ref: string;
  /** Undefined: `credit`. */
  readonly type?: CreditType;
  /** Pico-USD, above 0 for every type. */
  readonly amountPicos: bigint;
  readonly reason: string;
  readonly at: number;
  /** Required for a refund, a chargeback and a reversal, as is `target`. */
  readonly of?: string;
  readonly target?: CreditTarget;
  /** Whether the available amount must cover this change, which takes money. Undefined: it can fall below 0. */
  readonly isCovered?: true;
}

/** Records that a refund, a chargeback or a reversal changes. Both exist, and have other references than the request. */
export interface CreditTarget {
  readonly creditRef: string;
  /** Amount of the credit in pico-USD, which never changes. The returned amount stays within it. */
  readonly creditAmountPicos: bigint;
  /** Chargeback of the same amount that a reversal ends. */
  readonly chargebackRef?: string;
}

export type CreditReply =
  | { readonly kind: 'credited' | 'repeated' }
  /** The reference has a record with another type, amount or `of`. */
  | { readonly kind: 'other-values'; readonly record: CreditRecord }
  /** The credit does not cover the amount, or the chargeback is reversed already. */
  | { readonly kind: 'not-returnable' }
  /** The available amount, in pico-USD, does not cover a change that it must cover. */
  | { readonly kind: 'not-covered'; readonly availablePicos: bigint }
  | { readonly kind: 'no-account' };

export interface Due {
  readonly accountId: string;
}

/**
 * Durable state of the ledger. Each method is one call to the store. It throws StoreError if the result is not
 * definite, and never repeats a call.
 */
export interface LedgerStore {
  /** Sent once, and never again with the same hold id. */
  hold(request: HoldRequest): Promise<HoldReply>;
  putRecord(record: ChargeRecord): Promise<RecordReply>;
  /**
   * Changes the account as `closeHold` computes it, if a hold of that amount is open, and stores a charge that `isLate`
   * as a late charge in the same transaction. Returns the account after the write, or undefined if there was no such hold. `nowMs`
   * is the caller's clock in Unix ms. StoreError `conflict`: another write came first, and a repeat is safe.
   */
  apply(record: ChargeRecord, holdAmountPicos: bigint, nowMs: number): Promise<Account | undefined>;
  /** Reads consistently. */
  readAccount(accountId: string): Promise<Account | undefined>;
  readRecord(accountId: string, holdId: string): Promise<ChargeRecord | undefined>;
  /** Statements start in the month of `nowMs`. */
  createAccount(accountId: string, nowMs: number): Promise<'created' | 'exists'>;
  /**
   * Returns the account. If a month is over, closes it first. StoreError `conflict`: another write came first, and a
   * repeat is safe.
   */
  closeMonths(accountId: string, nowMs: number): Promise<Account | undefined>;
  /**
   * Writes the record and changes the account, as `changeCredit` computes it, and the target in one step. A reference
   * is executed once. `at` is also the caller's clock. StoreError `conflict`: another write came first, and a repeat is
   * safe.
   */
  credit(request: CreditRequest): Promise<CreditReply>;
  /**
   * Returns accounts whose sweep is due. A sweep after `latestMs` was set by a clock that was ahead, and is due too.
   * Undefined `latestMs`: none is.
   */
  due(nowMs: number, latestMs?: number): Promise<readonly Due[]>;
  /**
   * Sets the account's next sweep after the one that was due at `dueMs`, unless another write has set an earlier time
   * since. Without a time, removes the account from the list if it has no open hold.
   */
  reschedule(accountId: string, sweepAtMs: number | undefined, dueMs: number): Promise<void>;
  /** Removes the uncollected amounts of the account and ends its probation. Returns whether the account exists. */
  clearUncollected(accountId: string): Promise<boolean>;
  /** Moves the account's next sweep to this time, unless it is due earlier. */
  sweepBy(accountId: string, sweepAtMs: number): Promise<void>;
}

/**
 * Settlement that the ledger's store did not accept in time. Its response may have been sent, so it must be charged.
 */
export interface OutboxEntry {
  /** Settled record to commit. */
  readonly record: ChargeRecord;
  /** Amount of the placed hold, in pico-USD. */
  readonly holdAmountPicos: bigint;
}

/** Number of outbox entries that one call lists, which is the limit of S3. */
export const OUTBOX_PAGE = 1_000;

/**
 * Settlements that wait while the ledger cannot be written. It uses another kind of store, so that both rarely fail
 * together. One entry per hold. Every method is one call, safe to repeat, and throws StoreError if the result is not
 * definite.
 */
export interface Outbox {
  put(note: OutboxEntry): Promise<void>;
  /** Returns the entry of a hold. Always finds an entry whose `put` was confirmed. */
  read(holdId: string): Promise<OutboxEntry | undefined>;
  /** Returns hold ids of waiting entries in order, after the given one. Fewer than OUTBOX_PAGE are the last ones. */
  list(afterHoldId?: string): Promise<readonly string[]>;
  remove(holdId: string): Promise<void>;
}

export interface LedgerDependencies {
  readonly store: LedgerStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Random number from 0 up to 1, which spreads the retries of many callers. */
  readonly random: () => number;
  /** Minimum lifetime of a hold, in ms. It bounds how soon an account with open holds is swept. */
  readonly shortestLifetimeMs: number;
  /** Undefined if no meter is used. */
  readonly meter?: MoneyMeter;
  /** Called after a write by which an account is, or remains, on probation (BILL-21). Must not throw. */
  readonly onProbation?: (accountId: string, requestId: string) => void;
  /** Undefined if new holds are never rejected for a slow store. */
  readonly breaker?: HoldBreaker;
  /** Undefined if this process serves no requests. */
  readonly served?: ServedHolds | undefined;
}

/** Counts the money of a closed hold. Called by the code that closed the hold, and therefore once per hold. */
export const meterResolved = (
  meter: MoneyMeter,
  { outcome, amountPicos, uncollectedPicos }: ChargeRecord,
  holdAmountPicos: bigint,
): void => {
  if (outcome === 'released') {
    meter({ released: holdAmountPicos, ...(uncollectedPicos === undefined ? {} : { uncollected: uncollectedPicos }) });
  } else if (amountPicos > holdAmountPicos) meter({ charged: amountPicos, overage: amountPicos - holdAmountPicos });
  else meter({ charged: amountPicos, released: holdAmountPicos - amountPicos });
};
