import type { ChargeRecord, Hold } from '../../core/ledger/ledger.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { priceOfCount } from '../../core/pricing/count-prices.ts';
import { timeOfRequest } from '../../http/exchange.ts';
import { wireNames } from '../paid-response.ts';

/** One request as its payer sees it. Amounts are decimal strings in USD, not rounded. */
export interface UsageRow {
  /** Request id, as in the response header `x-request-id`. */
  readonly id: string;
  readonly object: 'usage';
  /** Time of the request: ISO 8601, UTC. */
  readonly created_at: string;
  readonly outcome: 'charged' | 'released' | 'open';
  /** Why nothing was charged: an error code or another reason. */
  readonly reason: string | null;
  readonly model: string | null;
  readonly usage: Readonly<Record<string, number>> | null;
  /** Price of one unit of each count in `usage`, such as one token, when the request was accepted. The sum of their products is `cost_usd`. */
  readonly prices_usd: Readonly<Record<string, string>> | null;
  readonly cost_usd: string | null;
  /** Whether the charge exceeded the hold. */
  readonly overage: boolean;
  /** The client's name for its end user. */
  readonly end_user: string | null;
  /** Fields of the request that the gateway ignored. */
  readonly ignored: readonly string[];
  /** Estimated cost of a released request for the operator (BILL-21). The client does not pay it. */
  readonly uncollected_usd: string | null;
}

export interface OpenUsageRow extends UsageRow {
  readonly outcome: 'open';
  readonly cost_usd: null;
  /** Amount held while the request runs. The charge follows at its end. */
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
  prices_usd: record.prices ? wireNames(allPrices(record.prices, record.usage), formatUsd) : null,
  cost_usd: formatUsd(record.amountPicos),
  overage: record.overage ?? false,
  end_user: record.endUser ?? null,
  ignored: record.ignored ?? [],
  uncollected_usd: record.uncollectedPicos === undefined ? null : formatUsd(record.uncollectedPicos),
});

/** Adds the price of every count that a record derives from another price. */
const allPrices = (prices: Prices, usage: ChargeRecord['usage'] = {}): Prices => ({
  ...prices,
  ...Object.fromEntries(Object.keys(usage).map((count) => [count, priceOfCount(count, prices)])),
});

type Prices = NonNullable<ChargeRecord['prices']>;

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
  uncollected_usd: null,
  held_usd: formatUsd(amountPicos),
});

/** Time in the request id. The list is sorted by it. */
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
  'uncollected_usd',
] as const satisfies readonly (keyof UsageRow)[];

/** RFC 4180 with a header line. A cell joins the items of a list with commas, and holds an object as JSON. */
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

/**
 * Spreadsheet programs run such a cell as a formula, and a stranger may have chosen the text.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
const defused = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
