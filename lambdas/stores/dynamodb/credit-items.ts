import { type CreditRecord, changeOf, isRepeat, returnOf, toCreditType } from '../../core/ledger/credit-record.ts';
import type { CreditReply, CreditRequest } from '../../core/ledger/ledger.ts';
import type { DynamoDB, Write } from './dynamodb.ts';
import { type Item, optionalText, readBigint, readNumber, readText } from './item.ts';
import { accountKey } from './ledger-items.ts';

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
export const toCreditItem = ({ accountId, ref, type = 'credit', of, ...request }: CreditRequest): Item => ({
  ...creditKey(accountId, ref),
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
  return {
    ref: readText(item, 'ref'),
    type: toCreditType(optionalText(item, 'type'), changePicos),
    amountPicos: changePicos < 0n ? -changePicos : changePicos,
    reason: readText(item, 'reason'),
    at: readNumber(item, 'at'),
    ...(of === undefined ? {} : { of }),
    ...(item.returned === undefined ? {} : { returnedPicos: readBigint(item, 'returned') }),
    ...(reversedBy === undefined ? {} : { reversedBy }),
  };
};

/** Writes record, target and account in one transaction, so that a repeated reference changes them once. */
export const credit = async (db: DynamoDB, table: string, request: CreditRequest): Promise<CreditReply> => {
  const cancelled = await db.transact([
    { put: { table, item: toCreditItem(request), condition: 'attribute_not_exists(pk)', onFailure: 'ALL_OLD' } },
    changeAccount(table, request),
    ...changeTarget(table, request),
  ]);
  if (!cancelled) return { kind: 'credited' };
  const [present, account] = cancelled;
  if (present?.isConditionFailed && present.item) {
    const first = toCreditRecord(present.item);
    return isRepeat(first, request) ? { kind: 'repeated' } : { kind: 'other-values', record: first };
  }
  if (!account?.isConditionFailed) return { kind: 'not-returnable' };
  if (!account.item) return { kind: 'no-account' };
  return { kind: 'not-covered', availablePicos: readBigint(account.item, 'available') };
};

const changeAccount = (
  table: string,
  { accountId, type = 'credit', amountPicos, isCovered }: CreditRequest,
): Write => ({
  update: {
    table,
    key: accountKey(accountId),
    update: 'SET available = available + :change, credited = credited + :change, version = version + :one',
    condition: isCovered ? 'available >= :amount' : 'attribute_exists(pk)',
    values: { ':change': changeOf({ type, amountPicos }), ':one': 1, ...(isCovered && { ':amount': amountPicos }) },
    onFailure: 'ALL_OLD',
  },
});

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
