import { invalidRequest } from '../../../lambdas/core/errors/gateway-error.ts';
import { changeCredit } from '../../../lambdas/core/ledger/change-credit.ts';
import {
  type CreditRecord,
  changeOf,
  isRepeat,
  returnOf,
  toCreditType,
} from '../../../lambdas/core/ledger/credit-record.ts';
import type { Account, CreditReply, CreditRequest } from '../../../lambdas/core/ledger/ledger.ts';
import { formatUsd, PICOS_PER_USD } from '../../../lambdas/core/money/usd.ts';
import { noteLowBalance, readAccount } from './account-rows.ts';
import { bigintOf, type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { replaceAccount } from './replace-account.ts';

/** Credit that an account of this store can have in all: pico-USD fit in an int64 up to 9,223,372 USD. */
export const CREDIT_MAX_PICOS = 9_000_000n * PICOS_PER_USD;

interface CreditChange {
  readonly reply: CreditReply;
  readonly change?: { readonly before: Account; readonly after: Account };
}

/** Writes record, target and account. Called in a transaction. */
export const credit = (db: Database, request: CreditRequest): CreditChange => {
  const { accountId, ref, type = 'credit', amountPicos, isCovered } = request;
  const present = readCredit(db, accountId, ref);
  if (present) {
    return { reply: isRepeat(present, request) ? { kind: 'repeated' } : { kind: 'other-values', record: present } };
  }
  const before = readAccount(db, accountId);
  if (!before) return { reply: { kind: 'no-account' } };
  const changePicos = changeOf({ type, amountPicos });
  checkCredit(before, changePicos);
  if (isCovered && before.availablePicos < amountPicos) {
    return { reply: { kind: 'not-covered', availablePicos: before.availablePicos } };
  }
  if (!changeTarget(db, request)) return { reply: { kind: 'not-returnable' } };
  const after = changeCredit(before, { type, amountPicos }, request.at);
  insertCredit(db, request, after.month);
  replaceAccount(db, before, after, request.at);
  noteLowBalance(db, before, after);
  return { reply: { kind: 'credited' }, change: { before, after } };
};

/** Whether the credit covers the amount, and the chargeback of a reversal is not reversed yet. Then both are changed. */
const changeTarget = (db: Database, request: CreditRequest): boolean => {
  const { accountId, ref, type = 'credit', amountPicos, target } = request;
  if (!target) return true;
  const credited = readCredit(db, accountId, target.creditRef);
  const returned = (credited?.returnedPicos ?? 0n) + returnOf({ type, amountPicos });
  if (credited?.amountPicos !== target.creditAmountPicos || returned > target.creditAmountPicos) return false;
  if (target.chargebackRef !== undefined) {
    const chargeback = readCredit(db, accountId, target.chargebackRef);
    const isOpen = chargeback?.type === 'chargeback' && chargeback.reversedBy === undefined;
    if (!isOpen || chargeback.amountPicos !== amountPicos) return false;
    const reverse = db.sql('UPDATE credits SET reversed_by = ? WHERE account_id = ? AND ref = ?');
    reverse.run(ref, accountId, target.chargebackRef);
  }
  const update = db.sql('UPDATE credits SET returned = ? WHERE account_id = ? AND ref = ?');
  update.run(returned, accountId, target.creditRef);
  return true;
};

/**
 * Writes a record. The stored amount is that of the change: below 0 for a refund, a chargeback and a debit. So an
 * earlier release, which adds the amounts up, has the right sum.
 */
export const insertCredit = (
  db: Database,
  { accountId, ref, type = 'credit', amountPicos, of, reason, at }: CreditRequest,
  month: string | undefined,
): void => {
  db.sql(
    'INSERT INTO credits (account_id, ref, type, of_ref, amount, reason, at, month) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  ).run(
    accountId,
    ref,
    type === 'credit' ? null : type,
    of ?? null,
    changeOf({ type, amountPicos }),
    reason,
    at,
    month ?? null,
  );
};

const readCredit = (db: Database, accountId: string, ref: string): CreditRecord | undefined => {
  const row = db.sql('SELECT * FROM credits WHERE account_id = ? AND ref = ?').get(accountId, ref);
  return row && toCreditRecord(row);
};

export const toCreditRecord = (row: Row): CreditRecord => {
  const changePicos = bigintOf(row, 'amount');
  const of = optionalTextOf(row, 'of_ref');
  const reversedBy = optionalTextOf(row, 'reversed_by');
  const month = optionalTextOf(row, 'month');
  return {
    ref: textOf(row, 'ref'),
    type: toCreditType(optionalTextOf(row, 'type'), changePicos),
    amountPicos: changePicos < 0n ? -changePicos : changePicos,
    reason: textOf(row, 'reason'),
    at: numberOf(row, 'at'),
    ...(of === undefined ? {} : { of }),
    ...(row.returned === null ? {} : { returnedPicos: bigintOf(row, 'returned') }),
    ...(reversedBy === undefined ? {} : { reversedBy }),
    ...(month === undefined ? {} : { month }),
  };
};

/**
 * Throws a GatewayError (400) if the account's credit would exceed `CREDIT_MAX_PICOS`, or if the available amount
 * would fall below `-CREDIT_MAX_PICOS`.
 */
export const checkCredit = (
  { creditedPicos, availablePicos }: Pick<Account, 'creditedPicos' | 'availablePicos'>,
  changePicos: bigint,
): void => {
  const most = formatUsd(CREDIT_MAX_PICOS);
  const leftPicos = CREDIT_MAX_PICOS - creditedPicos;
  if (changePicos > 0n && changePicos > leftPicos) {
    throw invalidRequest(
      'amount_usd',
      `amount_usd: an account can be credited ${most} USD in all. Credit at most ${formatUsd(leftPicos)} USD.`,
    );
  }
  if (changePicos < 0n && availablePicos + changePicos < -CREDIT_MAX_PICOS) {
    throw invalidRequest(
      'amount_usd',
      `amount_usd: an account can be at most ${most} USD below 0. Take at most ${formatUsd(availablePicos + CREDIT_MAX_PICOS)} USD.`,
    );
  }
};
