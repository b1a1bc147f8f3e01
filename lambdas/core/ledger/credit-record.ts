/**
 * Kind of a change of credited money: a payment, money that went back to the payer, or an operator's correction. A
 * chargeback takes money back against the will of the operator, and can be reversed.
 */
export const creditTypes = ['credit', 'refund', 'chargeback', 'chargeback_reversed', 'debit'] as const;

export type CreditType = (typeof creditTypes)[number];

/** Types that change an earlier record, which `of` names. */
export const returnTypes = ['refund', 'chargeback', 'chargeback_reversed'] as const satisfies readonly CreditType[];

export type ReturnType = (typeof returnTypes)[number];

/** One change of an account's credit. All types share the references of the account. */
export interface CreditRecord {
  readonly ref: string;
  readonly type: CreditType;
  /** Pico-USD, above 0 for every type. */
  readonly amountPicos: bigint;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Credit, or for a reversal its chargeback or credit, as the request named it. */
  readonly of?: string;
  /** Amount of a credit that is with the payer again: refunds and chargebacks, less reversals. Absent means 0. */
  readonly returnedPicos?: bigint;
  /** Reference of the reversal of this chargeback. */
  readonly reversedBy?: string;
  /** Month of the statement that contains the change. Undefined for a record of an earlier release. */
  readonly month?: string;
}

/** Change of the account's credit, in pico-USD. Stores keep this amount, so that all records of an account add up. */
export const changeOf = ({ type, amountPicos }: Pick<CreditRecord, 'type' | 'amountPicos'>): bigint =>
  type === 'credit' || type === 'chargeback_reversed' ? amountPicos : -amountPicos;

/** Change of the amount that is returned of the credit, in pico-USD. */
export const returnOf = (record: Pick<CreditRecord, 'type' | 'amountPicos'>): bigint =>
  returnTypes.some((type) => type === record.type) ? -changeOf(record) : 0n;

/** Reads a stored type. Absent: a credit. One of a newer release counts by its amount. */
export const toCreditType = (value: string | undefined, changePicos: bigint): CreditType =>
  creditTypes.find((type) => type === value) ?? (changePicos < 0n ? 'debit' : 'credit');

interface Stated {
  /** Undefined: `credit`. */
  readonly type?: CreditType;
  readonly amountPicos: bigint;
  readonly of?: string;
}

/** Whether a request repeats the record that has its reference. */
export const isRepeat = (record: CreditRecord, { type = 'credit', amountPicos, of }: Stated): boolean =>
  record.type === type && record.amountPicos === amountPicos && record.of === of;
