import { accountReturnOf, changeCredit } from '../../core/ledger/change-credit.ts';
import { type CreditRecord, changeOf, isRepeat, returnOf, toCreditType } from '../../core/ledger/credit-record.ts';
import type { CreditReply, CreditRequest } from '../../core/ledger/ledger.ts';
import { monthOf } from '../../core/ledger/month.ts';
import { type Cancellation, type DynamoDB, putNew, type UpdateRequest, type Write } from './dynamodb.ts';
import { type Item, optionalText, readBigint, readNumber, readText } from './item.ts';
import { accountKey, toAccount } from './ledger-items.ts';
import { lostRace, toClosingWrites, toReplacement } from './replace-account.ts';

/** All types have this prefix, so that they share one namespace. */
export const CREDIT_PREFIX = 'CREDIT#';

const creditKey = (accountId: string, ref: string): Item => ({
  pk: `account#${accountId}`,
  sk: `${CREDIT_PREFIX}${ref}`,
});

/**
 * The amount is that of the change: below 0 for a refund, a chargeback and a debit. So an earlier release, which adds
 * the amounts up, has the right sum. A payment has no type.
 */
export const toCreditItem = (request: CreditRequest, month: string): Item => ({
  ...creditKey(request.accountId, request.ref),
  ...toFields(request),
  month,
});

/** Prefix of the copies of a month's records, which statements list. */
export const monthCreditPrefix = (month: string): string => `STATEMENT_CREDIT#${month}#`;

/** Copy of a record, which its statement lists. */
export const toMonthCreditItem = (request: CreditRequest, month: string): Item => ({
  pk: `account#${request.accountId}`,
  sk: `${monthCreditPrefix(month)}${request.ref}`,
  ...toFields(request),
  month,
});

const toFields = ({ accountId, ref, type = 'credit', of, ...request }: CreditRequest): Item => ({
  accountId,
  ref,
  ...(type === 'credit' ? {} : { type }),
  ...(of === undefined ? {} : { of }),
  amount: changeOf({ type, amountPicos: request.amountPicos }),
  reason: request.reason,
  at: request.at,
});

export const toCreditRecord = (item: Item): CreditRecord => {
  const changePicos = readBigint(item, 'amount');
  const of = optionalText(item, 'of');
  const reversedBy = optionalText(item, 'reversedBy');
  const month = optionalText(item, 'month');
  return {
    ref: readText(item, 'ref'),
    type: toCreditType(optionalText(item, 'type'), changePicos),
    amountPicos: changePicos < 0n ? -changePicos : changePicos,
    reason: readText(item, 'reason'),
    at: readNumber(item, 'at'),
    ...(of === undefined ? {} : { of }),
    ...(item.returned === undefined ? {} : { returnedPicos: readBigint(item, 'returned') }),
    ...(reversedBy === undefined ? {} : { reversedBy }),
    ...(month === undefined ? {} : { month }),
  };
};

/**
 * Writes record, target and account in one transaction, so that a repeated reference changes them once. If the account
 * is not in the month of the request, a second transaction follows. In a later month it requires that month. In an
 * earlier one it also stores the closing, and requires the version of the account from which it is computed.
 */
export const credit = async (db: DynamoDB, table: string, request: CreditRequest): Promise<CreditReply> => {
  const cancelled = await db.transact(toWrites(table, request, changeAccount(table, request, monthOf(request.at))));
  if (!cancelled) return { kind: 'credited' };
  const refusal = refusalOf(cancelled, request);
  if (refusal) return refusal;
  const item = cancelled[1]?.item;
  if (!item) return { kind: 'no-account' };
  const before = toAccount(item);
  const after = changeCredit(before, { type: 'credit', ...request }, request.at);
  const replacement = { before, after, nowMs: request.at };
  const closings = toClosingWrites(table, replacement);
  const month = after.month ?? '';
  const account =
    closings.length === 0 ? changeAccount(table, request, month) : { update: toReplacement(table, replacement), month };
  const slow = await db.transact([...toWrites(table, request, account), ...closings]);
  if (!slow) return { kind: 'credited' };
  const slowRefusal = refusalOf(slow, request);
  if (slowRefusal) return slowRefusal;
  throw lostRace();
};

interface AccountWrite {
  readonly update: UpdateRequest;
  /** Month of the account after the write. */
  readonly month: string;
}

/** `refusalOf` relies on the order of the first two. */
const toWrites = (table: string, request: CreditRequest, { update, month }: AccountWrite): readonly Write[] => [
  {
    put: {
      table,
      item: toCreditItem(request, month),
      condition: 'attribute_not_exists(pk)',
      onFailure: 'ALL_OLD',
    },
  },
  { update },
  putNew(table, toMonthCreditItem(request, month)),
  ...changeTarget(table, request),
];

/** Returns undefined if only the account's write failed, and not for the available amount. */
const refusalOf = ([present, account]: readonly Cancellation[], request: CreditRequest): CreditReply | undefined => {
  if (present?.isConditionFailed && present.item) {
    const first = toCreditRecord(present.item);
    return isRepeat(first, request) ? { kind: 'repeated' } : { kind: 'other-values', record: first };
  }
  if (!account?.isConditionFailed) return { kind: 'not-returnable' };
  if (!request.isCovered || !account.item) return undefined;
  const availablePicos = readBigint(account.item, 'available');
  return availablePicos < request.amountPicos ? { kind: 'not-covered', availablePicos } : undefined;
};

/** The condition on the month fails for an account of an earlier release, and if there is no account. */
const changeAccount = (
  table: string,
  { accountId, type = 'credit', amountPicos, isCovered }: CreditRequest,
  month: string,
): AccountWrite => {
  const returned = accountReturnOf({ type, amountPicos });
  const update: UpdateRequest = {
    table,
    key: accountKey(accountId),
    update:
      'SET available = available + :change, credited = credited + :change, ' +
      'returned = if_not_exists(returned, :none) + :returned, version = version + :one',
    condition: `#month = :month${isCovered ? ' AND available >= :amount' : ''}`,
    names: { '#month': 'month' },
    values: {
      ':change': changeOf({ type, amountPicos }),
      ':returned': returned,
      ':none': 0,
      ':one': 1,
      ':month': month,
      ...(isCovered && { ':amount': amountPicos }),
    },
    onFailure: 'ALL_OLD',
  };
  return { update, month };
};

const changeTarget = (table: string, request: CreditRequest): readonly Write[] => {
  const { accountId, ref, type = 'credit', amountPicos, target } = request;
  if (!target) return [];
  const returned = returnOf({ type, amountPicos });
  // A condition cannot add, so the bound is that of the amount before this change.
  const bound = returned > 0n ? target.creditAmountPicos - returned : target.creditAmountPicos;
  const credited: Write = {
    update: {
      table,
      key: creditKey(accountId, target.creditRef),
      update: 'SET returned = if_not_exists(returned, :none) + :returned',
      condition: 'amount = :credited AND (returned <= :bound OR (attribute_not_exists(returned) AND :none <= :bound))',
      values: { ':returned': returned, ':credited': target.creditAmountPicos, ':bound': bound, ':none': 0 },
    },
  };
  if (target.chargebackRef === undefined) return [credited];
  const chargeback: Write = {
    update: {
      table,
      key: creditKey(accountId, target.chargebackRef),
      update: 'SET reversedBy = :ref',
      condition: '#type = :chargeback AND amount = :change AND attribute_not_exists(reversedBy)',
      names: { '#type': 'type' },
      values: { ':ref': ref, ':chargeback': 'chargeback', ':change': -amountPicos },
    },
  };
  return [credited, chargeback];
};
