import type { CreditOrder, CreditRefusal } from '../../core/ledger/credit.ts';
import type { CreditRecord } from '../../core/ledger/credit-record.ts';
import { formatUsd } from '../../core/money/usd.ts';

export interface RefusalText {
  readonly code: 'not_found' | 'credit_mismatch' | 'invalid_request_error';
  readonly field: 'account' | 'type' | 'amount_usd' | 'of';
  /** Problem and fix, without the field. */
  readonly text: string;
}

const names = {
  credit: 'credit',
  refund: 'refund',
  chargeback: 'chargeback',
  chargeback_reversed: 'reversal of a chargeback',
  debit: 'debit',
} as const;

/** Explains why a change of credit was rejected (KEY-6, KEY-7). Nothing was changed. */
export const refusalText = (refusal: CreditRefusal, order: CreditOrder): RefusalText => {
  switch (refusal.kind) {
    case 'no-account':
      return {
        code: 'not_found',
        field: 'account',
        text: 'there is no account with this id. Nothing was changed. Check the id.',
      };
    case 'other-values':
      return otherValues(refusal.record, order);
    case 'unknown-of':
      return {
        code: 'not_found',
        field: 'of',
        text: `the account has no credit with the ref ${order.of}. Nothing was changed. Report the credit first, then repeat this request.`,
      };
    case 'wrong-of':
      return { code: 'invalid_request_error', field: 'of', text: wrongOf(refusal.type, order) };
    case 'above-credit':
      return {
        code: 'invalid_request_error',
        field: 'amount_usd',
        text: `${formatUsd(refusal.leftPicos)} USD of the credit ${order.of} are not returned yet. Nothing was changed. Send at most that amount.`,
      };
    case 'other-chargeback':
      return { code: 'invalid_request_error', ...otherChargeback(refusal.amountsPicos, order) };
    case 'already-reversed':
      return {
        code: 'credit_mismatch',
        field: 'of',
        text: `this chargeback was already reversed by ${refusal.by}. Nothing was changed. Do not repeat a reversal with a new ref.`,
      };
    case 'not-covered':
      return {
        code: 'invalid_request_error',
        field: 'amount_usd',
        text: `${formatUsd(refusal.availablePicos)} USD are available. Nothing was changed. Lower the amount, or add --allow-negative.`,
      };
  }
};

const otherValues = ({ type, amountPicos, of }: CreditRecord, order: CreditOrder): RefusalText => {
  const otherOf = of === order.of ? 'amount_usd' : 'of';
  return {
    code: 'credit_mismatch',
    field: type === order.type ? otherOf : 'type',
    text: `this ref is already used for a ${names[type]} of ${formatUsd(amountPicos)} USD${of === undefined ? '' : ` (of ${of})`}. Nothing was changed. Use a new ref.`,
  };
};

const wrongOf = (type: CreditRecord['type'], order: CreditOrder): string => {
  const expected = order.type === 'chargeback_reversed' ? 'a chargeback, or of its credit' : 'a credit';
  return `${order.of} is the ref of a ${names[type]}. Nothing was changed. Send the ref of ${expected}.`;
};

const otherChargeback = (amounts: readonly bigint[], { of, amountPicos }: CreditOrder): Omit<RefusalText, 'code'> => {
  if (amounts.length === 0) {
    return { field: 'of', text: `${of} has no chargeback. Nothing was changed. Report the chargeback first.` };
  }
  const known = amounts.map((picos) => `${formatUsd(picos)} USD`).join(', ');
  return {
    field: 'amount_usd',
    text: `${of} has no chargeback of ${formatUsd(amountPicos)} USD, but of ${known}. Nothing was changed. Send the whole amount of the chargeback.`,
  };
};
