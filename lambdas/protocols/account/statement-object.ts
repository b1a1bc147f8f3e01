import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { accountReturnOf } from '../../core/ledger/change-credit.ts';
import type { CreditRecord } from '../../core/ledger/credit-record.ts';
import type { ModelCharges } from '../../core/ledger/month.ts';
import { isMonth } from '../../core/ledger/month.ts';
import type { Statement, StatementReply } from '../../core/ledger/statement.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { type Cell, toCsvTable } from '../csv.ts';

/** Returns the month. Throws the 400 that names `month`. */
export const readMonth = (text: string): string => {
  if (isMonth(text)) return text;
  throw invalidRequest('month', `month: "${text.slice(0, 20)}" is not a month. Use a form such as 2026-11.`);
};

/** Returns the statement. Throws the client's error if there is none. */
export const statementOf = (reply: StatementReply, month: string): Statement => {
  switch (reply.kind) {
    case 'statement':
      return reply.statement;
    case 'future':
      throw invalidRequest('month', `month: ${month} has not begun. Use ${reply.presentMonth} or an earlier month.`);
    case 'before-first':
      throw new GatewayError(
        'not_found',
        `This account has no statement of ${month}. Its first statement is of ${reply.firstMonth}.`,
      );
    case 'no-account':
      throw new Error('the account of a statement is missing');
  }
};

/** Statement as its payer sees it. Amounts are decimal strings in USD, not rounded. Times are ISO 8601, UTC. */
export const toStatementObject = (statement: Statement) => ({
  object: 'statement' as const,
  month: statement.month,
  status: statement.status,
  opening_usd: formatUsd(statement.openingPicos),
  credits_usd: formatUsd(statement.creditsPicos),
  returns_usd: formatUsd(statement.returnsPicos),
  charges_usd: formatUsd(statement.chargesPicos),
  closing_usd: formatUsd(statement.closingPicos),
  held_usd: formatUsd(statement.heldPicos),
  credits: statement.changes.filter(({ type }) => type === 'credit').map(toChange),
  returns: statement.changes.filter(({ type }) => type !== 'credit').map(toChange),
  charges: statement.charges.map(toModelRow),
  charges_complete: statement.chargesComplete,
  settled_in_other_month_usd: statement.otherMonthPicos === undefined ? null : formatUsd(statement.otherMonthPicos),
});

export type StatementObject = ReturnType<typeof toStatementObject>;

/** A reversal has an amount below 0, so that all amounts of `returns` add up to `returns_usd`. */
const toChange = (record: CreditRecord) => ({
  ref: record.ref,
  type: record.type,
  of: record.of ?? null,
  amount_usd: formatUsd(record.type === 'credit' ? record.amountPicos : accountReturnOf(record)),
  created_at: new Date(record.at).toISOString(),
});

const toModelRow = ({ model, requests, amountPicos }: ModelCharges) => ({
  model: model ?? null,
  requests,
  cost_usd: formatUsd(amountPicos),
});

const columns = [
  'month',
  'line',
  'type',
  'ref',
  'of',
  'model',
  'requests',
  'created_at',
  'amount_usd',
  'charges_complete',
] as const;

type Cells = { readonly [Column in (typeof columns)[number]]?: Cell };

/**
 * RFC 4180 with a header line. Opening + credits - returns - charges - settled_in_other_month = closing, over all lines
 * of each name. While the charges are not complete, the amount of settled_in_other_month is empty.
 */
export const toStatementCsv = (statement: StatementObject): string => {
  const { month, opening_usd, credits, returns, charges, charges_complete, closing_usd, held_usd } = statement;
  const change =
    (line: string) =>
    (one: StatementObject['credits'][number]): Cells => ({ line, ...one });
  const rows: readonly Cells[] = [
    { line: 'opening', amount_usd: opening_usd },
    ...credits.map(change('credit')),
    ...returns.map(change('return')),
    ...charges.map(({ model, requests, cost_usd }) => ({ line: 'charge', model, requests, amount_usd: cost_usd })),
    { line: 'settled_in_other_month', amount_usd: statement.settled_in_other_month_usd },
    { line: 'closing', amount_usd: closing_usd },
    { line: 'held', amount_usd: held_usd },
  ];
  const toCells = (row: Cells): readonly Cell[] =>
    columns.map((column) => ({ month, charges_complete, ...row })[column]);
  return toCsvTable(columns, rows.map(toCells));
};
