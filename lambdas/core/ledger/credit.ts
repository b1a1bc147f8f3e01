import { StoreError } from '../errors/store-error.ts';
import { retryUntilDefinite } from '../retry.ts';
import { type CreditRecord, type CreditType, isRepeat, type ReturnType, returnTypes } from './credit-record.ts';
import type { CreditTarget, LedgerDependencies, LedgerStore } from './ledger.ts';
import { type Account, balanceOf } from './ledger.ts';
import type { LedgerRecords } from './records.ts';

/**
 * Reference of the start credit. A payment with this reference would look like the start credit and would not be
 * credited.
 */
export const START_REF = 'start';

/** Format of a payment reference. */
export const REF_FORM = new RegExp(`^(?!${START_REF}$)(?:(?![#?])[!-~]){1,200}$`);

/** Description of `REF_FORM` for error messages. */
export const REF_RULE = `1 to 200 visible ASCII characters, without # and ?, and not "${START_REF}"`;

/** Whether a payment may use this reference. */
export const isCreditRef = (text: string): boolean => REF_FORM.test(text);

export type CreditDependencies = Pick<LedgerDependencies, 'clock' | 'random'> & {
  readonly store: Pick<LedgerStore, 'credit' | 'readAccount'>;
  readonly records: Pick<LedgerRecords, 'readCredits'>;
};

/** Change of an account's credit, as a payment provider or an operator reports it. */
export interface CreditOrder {
  readonly accountId: string;
  readonly ref: string;
  readonly type: CreditType;
  /** Pico-USD, above 0. */
  readonly amountPicos: bigint;
  readonly reason: string;
  /** Set exactly for a refund, a chargeback and a reversal. */
  readonly of?: string;
  /** Whether the available amount must cover the change. Undefined: it can fall below 0. */
  readonly isCovered?: true;
}

/** Why a change is rejected. Nothing was changed. */
export type CreditRefusal =
  | { readonly kind: 'no-account' }
  /** The reference has a record with another type, amount or `of`. */
  | { readonly kind: 'other-values'; readonly record: CreditRecord }
  /** `of` names no record of the account. */
  | { readonly kind: 'unknown-of' }
  /** `of` names a record that this type cannot change. */
  | { readonly kind: 'wrong-of'; readonly type: CreditType }
  /** The amount is above the part of the credit that is not returned yet. */
  | { readonly kind: 'above-credit'; readonly leftPicos: bigint }
  /** The credit has no chargeback of this amount. A reversal restores a whole chargeback. */
  | { readonly kind: 'other-chargeback'; readonly amountsPicos: readonly bigint[] }
  | { readonly kind: 'already-reversed'; readonly by: string }
  /** The available amount, in pico-USD, does not cover the change. */
  | { readonly kind: 'not-covered'; readonly availablePicos: bigint };

export type CreditPlan = { readonly kind: 'new'; readonly target?: CreditTarget } | { readonly kind: 'repeated' };

export type Credited = {
  readonly kind: 'credited' | 'repeated';
  readonly account: Account;
  readonly balancePicos: bigint;
};

/** Whether records of this type name another one. */
export const isReturnType = (type: CreditType): type is ReturnType => returnTypes.some((one) => one === type);

/** Decides by the records of the account whether a change may be written, and which records it changes. */
export const planCredit = (records: readonly CreditRecord[], order: CreditOrder): CreditPlan | CreditRefusal => {
  const present = records.find(({ ref }) => ref === order.ref);
  if (present) return isRepeat(present, order) ? { kind: 'repeated' } : { kind: 'other-values', record: present };
  if (!isReturnType(order.type)) return { kind: 'new' };
  const named = records.find(({ ref }) => ref === order.of);
  if (!named) return { kind: 'unknown-of' };
  return order.type === 'chargeback_reversed' ? planReversal(records, order, named) : planReturn(order, named);
};

const planReturn = ({ amountPicos }: CreditOrder, credit: CreditRecord): CreditPlan | CreditRefusal => {
  if (credit.type !== 'credit') return { kind: 'wrong-of', type: credit.type };
  const leftPicos = credit.amountPicos - (credit.returnedPicos ?? 0n);
  if (amountPicos > leftPicos) return { kind: 'above-credit', leftPicos };
  return { kind: 'new', target: { creditRef: credit.ref, creditAmountPicos: credit.amountPicos } };
};

/** `of` names the chargeback, or its credit. Chargebacks of one credit and amount are reversed in their order. */
const planReversal = (
  records: readonly CreditRecord[],
  { amountPicos }: CreditOrder,
  named: CreditRecord,
): CreditPlan | CreditRefusal => {
  if (named.type !== 'credit' && named.type !== 'chargeback') return { kind: 'wrong-of', type: named.type };
  const chargebacks = records
    .filter(({ type, ref, of }) => type === 'chargeback' && (ref === named.ref || of === named.ref))
    .toSorted((one, other) => one.at - other.at || (one.ref < other.ref ? -1 : 1));
  const equal = chargebacks.filter((chargeback) => chargeback.amountPicos === amountPicos);
  const open = equal.find(({ reversedBy }) => reversedBy === undefined);
  const by = equal.at(-1)?.reversedBy;
  if (!open && by !== undefined) return { kind: 'already-reversed', by };
  const credit = records.find(({ ref }) => ref === open?.of);
  if (!open || !credit) {
    return { kind: 'other-chargeback', amountsPicos: chargebacks.map((chargeback) => chargeback.amountPicos) };
  }
  const target = { creditRef: credit.ref, creditAmountPicos: credit.amountPicos, chargebackRef: open.ref };
  return { kind: 'new', target };
};

/** Bounds the tries of a change that loses against concurrent ones. */
const TRIES = 5;

/**
 * KEY-6, KEY-7: changes the credit of an account once per reference, and returns the account after the change. A
 * repeated change returns `repeated`. Throws StoreError if the result is unknown; then the change may have been made,
 * and repeating it is safe.
 */
export const creditAccount = async (
  deps: CreditDependencies,
  order: CreditOrder,
): Promise<Credited | CreditRefusal> => {
  const { store, records, clock } = deps;
  const at = clock.now();
  for (let tried = 0; tried < TRIES; tried += 1) {
    // A credit without a target needs no read before the write.
    const known = isReturnType(order.type)
      ? await retryUntilDefinite(deps, () => records.readCredits(order.accountId))
      : [];
    const plan = planCredit(known, order);
    if (plan.kind === 'repeated') return withAccount(deps, order, 'repeated');
    if (plan.kind !== 'new') return refusalFor(deps, order, plan);
    const request = { ...order, at, ...(plan.target && { target: plan.target }) };
    const reply = await retryUntilDefinite(deps, () => store.credit(request));
    if (reply.kind === 'no-account' || reply.kind === 'other-values' || reply.kind === 'not-covered') return reply;
    if (reply.kind !== 'not-returnable') return withAccount(deps, order, reply.kind);
    // A concurrent change used the target. The next read shows it.
  }
  throw new StoreError('conflict', 'the credit changes all the time');
};

const withAccount = async (
  deps: CreditDependencies,
  { accountId }: CreditOrder,
  kind: Credited['kind'],
): Promise<Credited> => {
  const account = await retryUntilDefinite(deps, () => deps.store.readAccount(accountId));
  if (!account) throw new Error('an account that was credited is missing');
  return { kind, account, balancePicos: balanceOf(account) };
};

/** An unknown account has no records, so it is the reason why `of` is unknown. */
const refusalFor = async (
  deps: CreditDependencies,
  { accountId }: CreditOrder,
  refusal: CreditRefusal,
): Promise<CreditRefusal> => {
  if (refusal.kind !== 'unknown-of') return refusal;
  const account = await retryUntilDefinite(deps, () => deps.store.readAccount(accountId));
  return account ? refusal : { kind: 'no-account' };
};
