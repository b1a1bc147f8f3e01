import { retryUntilDefinite } from '../retry.ts';
import type { CreditRequest, LedgerDependencies, LedgerStore } from './ledger.ts';
import { type Account, balanceOf } from './ledger.ts';

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
};

export type Credited =
  | { readonly kind: 'credited' | 'repeated'; readonly account: Account; readonly balancePicos: bigint }
  /** The reference was already used to credit this other amount, in pico-USD. */
  | { readonly kind: 'other-amount'; readonly amountPicos: bigint }
  | { readonly kind: 'no-account' };

/**
 * KEY-6: credits an account once per reference, and returns the account after the credit. A repeated credit returns
 * `repeated`. Throws StoreError if the result is unknown; then the credit may have been applied, and repeating it is
 * safe.
 */
export const creditAccount = async (deps: CreditDependencies, order: Omit<CreditRequest, 'at'>): Promise<Credited> => {
  const { store, clock } = deps;
  const request = { ...order, at: clock.now() };
  const reply = await retryUntilDefinite(deps, () => store.credit(request));
  if (reply.kind === 'no-account' || reply.kind === 'other-amount') return reply;
  const account = await retryUntilDefinite(deps, () => store.readAccount(order.accountId));
  if (!account) throw new Error('an account that was credited is missing');
  return { kind: reply.kind, account, balancePicos: balanceOf(account) };
};
