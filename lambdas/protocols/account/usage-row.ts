import type { ChargeRecord, Hold } from '../../core/ledger/ledger.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { timeOfRequest } from '../../http/exchange.ts';
import { wireNames } from '../paid-response.ts';

/** One request as its payer sees it. Money is decimal strings in USD, nothing rounded. */
export interface UsageRow {
  /** The request id, as the answer had it in `x-request-id`. */
  readonly id: string;
  readonly object: 'usage';
  /** When the request came. ISO 8601, UTC. */
  readonly created_at: string;
  readonly outcome: 'charged' | 'released' | 'open';
  /** Why nothing was charged: an error code, or what else became of the request. */
  readonly reason: string | null;
  readonly model: string | null;
  readonly usage: Readonly<Record<string, number>> | null;
  /** Price of one unit of `usage` (a token) at the time of the request. */
  readonly prices_usd: Readonly<Record<string, string>> | null;
  readonly cost_usd: string | null;
  /** The charge was above what had been reserved. */
  readonly overage: boolean;
  /** The client's own name for its end user. */
  readonly end_user: string | null;
  /** Fields of the request that were ignored. */
  readonly ignored: readonly string[];
}

export interface OpenUsageRow extends UsageRow {
  readonly outcome: 'open';
  readonly cost_usd: null;
  /** Reserved while the request runs; the charge comes at its end. */
  readonly held_usd: string;
}

export const toUsageRow = (record: ChargeRecord): UsageRow => ({
  id: record.requestId,
  object: 'usage',
  created_at: timeOf(record.requestId),
  outcome: record.outcome === 'settled' ? 'charged' : 'released',
  reason: record.reason ?? null,
  model: record.model ?? null,
  usage: record.usage ? wireNames(record.usage, (count) => count) : null,
  prices_usd: record.prices ? wireNames(record.prices, formatUsd) : null,
  cost_usd: formatUsd(record.amountPicos),
  overage: record.overage ?? false,
  end_user: record.endUser ?? null,
  ignored: record.ignored ?? [],
});

export const toOpenRow = (requestId: string, { amountPicos }: Hold): OpenUsageRow => ({
  id: requestId,
  object: 'usage',
  created_at: timeOf(requestId),
  outcome: 'open',
  reason: null,
  model: null,
  usage: null,
  prices_usd: null,
  cost_usd: null,
  overage: false,
  end_user: null,
  ignored: [],
  held_usd: formatUsd(amountPicos),
});

/** The list is in the order of these times. */
const timeOf = (requestId: string): string => new Date(timeOfRequest(requestId)).toISOString();

const columns = [
  'id',
  'created_at',
  'outcome',
  'reason',
  'model',
  'usage',
  'prices_usd',
  'cost_usd',
  'overage',
  'end_user',
  'ignored',
] as const satisfies readonly (keyof UsageRow)[];

/** RFC 4180 with a line of names. A list is separated by commas in its cell, and an object is JSON. */
export const toCsv = (rows: readonly UsageRow[]): string =>
  [columns.join(','), ...rows.map((row) => columns.map((column) => toCell(row[column])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');

const toCell = (value: UsageRow[keyof UsageRow]): string => {
  if (value === null) return '';
  if (Array.isArray(value)) return toTextCell(value.join(','));
  return toTextCell(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

export const toTextCell = (value: string): string => {
  const text = defused(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A table program takes such a cell for a formula, and the text may come from a stranger. https://owasp.org/www-community/attacks/CSV_Injection */
const defused = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
