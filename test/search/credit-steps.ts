import { changeCredit } from '../../lambdas/core/ledger/change-credit.ts';
import { type CreditRecord, isRepeat, returnOf } from '../../lambdas/core/ledger/credit-record.ts';
import type { CreditReply, CreditRequest, CreditTarget } from '../../lambdas/core/ledger/ledger.ts';
import type { Op } from './operations.ts';
import type { Step, World } from './world.ts';

type Credits = ReadonlyMap<string, CreditRecord>;

/** Executes the calls on the credit of the account. Returns undefined for any other call. */
export const creditStep = (world: World, op: Op): Step | undefined => {
  if (op.kind === 'readCredits')
    return { world, answer: { kind: 'readCredits', records: [...world.credits.values()] } };
  if (op.kind !== 'credit') return undefined;
  const { changed, reply } = change(world, op.request);
  return { world: changed, answer: { kind: 'credit', reply } };
};

const change = (world: World, request: CreditRequest): { readonly changed: World; readonly reply: CreditReply } => {
  const { account, credits } = world;
  const { ref, type = 'credit', amountPicos, reason, at, of, target } = request;
  const record: CreditRecord = { ref, type, amountPicos, reason, at, ...(of === undefined ? {} : { of }) };
  const present = credits.get(ref);
  if (present) {
    return {
      changed: world,
      reply: isRepeat(present, request) ? { kind: 'repeated' } : { kind: 'other-values', record: present },
    };
  }
  const returned = target ? withReturn(credits, record, target) : credits;
  if (!returned) return { changed: world, reply: { kind: 'not-returnable' } };
  const after = changeCredit(account, record, at);
  const changed = {
    ...world,
    account: { ...after, version: 0 },
    credits: new Map(returned).set(ref, { ...record, ...(after.month !== undefined && { month: after.month }) }),
  };
  return { changed, reply: { kind: 'credited' } };
};

/** Returns the records with the target changed, or undefined if the target does not allow it. */
const withReturn = (
  credits: Credits,
  record: CreditRecord,
  { creditRef, creditAmountPicos, chargebackRef }: CreditTarget,
): Credits | undefined => {
  const credit = credits.get(creditRef);
  const returnedPicos = (credit?.returnedPicos ?? 0n) + returnOf(record);
  if (credit?.amountPicos !== creditAmountPicos) return undefined;
  if (returnedPicos > creditAmountPicos) return undefined;
  const changed = new Map(credits);
  if (chargebackRef !== undefined) {
    const chargeback = credits.get(chargebackRef);
    if (chargeback?.type !== 'chargeback' || chargeback.amountPicos !== record.amountPicos) return undefined;
    if (chargeback.reversedBy !== undefined) return undefined;
    changed.set(chargebackRef, { ...chargeback, reversedBy: record.ref });
  }
  return changed.set(creditRef, { ...credit, returnedPicos });
};
