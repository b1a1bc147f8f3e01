import { formatUsd } from '../money/usd.ts';
import { type CreditRecord, changeOf } from './credit-record.ts';

export type CreditInvariant =
  /** A credit has the sum of its refunds and open chargebacks as returned, and at most its amount. */
  | 'returned-as-recorded'
  /** A chargeback is reversed once, with its own amount. */
  | 'reversed-once';

export interface CreditProblem {
  readonly ref: string;
  readonly invariant: CreditInvariant;
  readonly message: string;
}

/** Compares credits with their refunds, chargebacks and reversals. */
export const creditProblems = (records: readonly CreditRecord[]): readonly CreditProblem[] => {
  const byRef = new Map(records.map((record) => [record.ref, record]));
  return records.flatMap((record) => {
    const [invariant, message] = problemOf(record, records, byRef) ?? [];
    return invariant && message !== undefined ? [{ ref: record.ref, invariant, message }] : [];
  });
};

type Problem = readonly [invariant: CreditInvariant, message: string];

const problemOf = (
  record: CreditRecord,
  records: readonly CreditRecord[],
  byRef: ReadonlyMap<string, CreditRecord>,
): Problem | undefined => {
  switch (record.type) {
    case 'credit':
      return returnedProblem(record, records);
    case 'refund':
    case 'chargeback':
      return isOf(byRef.get(record.of ?? ''), 'credit')
        ? reversalProblem(record, byRef)
        : ['returned-as-recorded', `${record.of} is not a credit of this account`];
    case 'chargeback_reversed':
      return reversedProblem(record, records);
    case 'debit':
      return undefined;
  }
};

const isOf = (record: CreditRecord | undefined, type: CreditRecord['type']): boolean => record?.type === type;

const returnedProblem = (credit: CreditRecord, records: readonly CreditRecord[]): Problem | undefined => {
  const { ref, amountPicos, returnedPicos = 0n } = credit;
  const returned = records
    .filter((record) => record.of === ref && record.type !== 'chargeback_reversed' && !record.reversedBy)
    .reduce((sum, record) => sum - changeOf(record), 0n);
  if (returned === returnedPicos && returned <= amountPicos) return undefined;
  return [
    'returned-as-recorded',
    `returned is ${formatUsd(returnedPicos)} USD of ${formatUsd(amountPicos)} USD, its refunds and chargebacks are ${formatUsd(returned)} USD`,
  ];
};

const reversalProblem = (
  { reversedBy, amountPicos }: CreditRecord,
  byRef: ReadonlyMap<string, CreditRecord>,
): Problem | undefined => {
  if (reversedBy === undefined) return undefined;
  const reversal = byRef.get(reversedBy);
  return isOf(reversal, 'chargeback_reversed') && reversal?.amountPicos === amountPicos
    ? undefined
    : ['reversed-once', `reversed by ${reversedBy}, which is not a reversal of its amount`];
};

const reversedProblem = ({ ref }: CreditRecord, records: readonly CreditRecord[]): Problem | undefined => {
  const count = records.filter(({ reversedBy }) => reversedBy === ref).length;
  return count === 1 ? undefined : ['reversed-once', `it reverses ${count} chargebacks`];
};
