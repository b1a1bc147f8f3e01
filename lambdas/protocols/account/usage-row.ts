import type { ChargeRecord, Hold } from '../../core/ledger/ledger.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { knownCounts, priceOfCount } from '../../core/pricing/count-prices.ts';
import { timeOfRequest } from '../../http/exchange.ts';
import { type Cell, toCsvTable } from '../csv.ts';
import { toWireName, wireNames } from '../paid-response.ts';

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
  /** Whether a count of the provider was implausible and was charged at its bound (BILL-7). `usage` has the reported counts. */
  readonly implausible: boolean;
  /** Whether the gateway ended the output at a stop sequence (CHAT-17). `usage` has all tokens that the provider generated. */
  readonly cut_at_stop: boolean;
  /** The client's name for its end user. */
  readonly end_user: string | null;
  /** Fields of the request that the gateway ignored. */
  readonly ignored: readonly string[];
  /** Path of the route. Null in receipts of earlier releases, as are the four fields below. */
  readonly endpoint: string | null;
  /** Public id of the API key. */
  readonly key_id: string | null;
  readonly provider: string | null;
  /** Time from the provider call to the start of its response, in ms. */
  readonly first_byte_ms: number | null;
  /** Time from the provider call to the end of its response, in ms. */
  readonly total_ms: number | null;
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
  implausible: record.implausible ?? false,
  cut_at_stop: record.cutAtStop ?? false,
  end_user: record.endUser ?? null,
  ignored: record.ignored ?? [],
  ...toCallFields(record),
  uncollected_usd: record.uncollectedPicos === undefined ? null : formatUsd(record.uncollectedPicos),
});

const toCallFields = ({ endpoint, keyId, provider, firstByteMs, totalMs }: Partial<ChargeRecord>) => ({
  endpoint: endpoint ?? null,
  key_id: keyId ?? null,
  provider: provider ?? null,
  first_byte_ms: firstByteMs ?? null,
  total_ms: totalMs ?? null,
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
  implausible: false,
  cut_at_stop: false,
  end_user: null,
  ignored: [],
  ...toCallFields({}),
  uncollected_usd: null,
  held_usd: formatUsd(amountPicos),
});

/** Time in the request id. The list is sorted by it. */
const timeOf = (requestId: string): string => new Date(timeOfRequest(requestId)).toISOString();

const counts = [...knownCounts].map(toWireName).sort();

/** Returns the cells of a row in the order of the columns. */
const cellsOf = (row: UsageRow): readonly (readonly [column: string, value: Cell])[] => [
  ['id', row.id],
  ['created_at', row.created_at],
  ['outcome', row.outcome],
  ['reason', row.reason],
  ['model', row.model],
  ['cost_usd', row.cost_usd],
  ['overage', row.overage],
  ['end_user', row.end_user],
  ['ignored', row.ignored.join(',')],
  ['uncollected_usd', row.uncollected_usd],
  ['endpoint', row.endpoint],
  ['key_id', row.key_id],
  ['provider', row.provider],
  ['first_byte_ms', row.first_byte_ms],
  ['total_ms', row.total_ms],
  ...counts.map((name) => [`usage_${name}`, row.usage?.[name]] as const),
  ...counts.map((name) => [`price_${name}_usd`, row.prices_usd?.[name]] as const),
  // After the columns of earlier releases.
  ['implausible', row.implausible],
  ['cut_at_stop', row.cut_at_stop],
];

/**
 * RFC 4180 with a header line. A column holds one count or one price, and the column of a list joins its items with
 * commas. Every part of a list has the same columns.
 */
export const toCsv = (rows: readonly UsageRow[]): string =>
  toCsvTable(
    columns,
    rows.map((row) => cellsOf(row).map(([, value]) => value)),
  );

const columns: readonly string[] = cellsOf(toOpenRow('0'.repeat(26), { amountPicos: 0n, expiresAtMs: 0 })).map(
  ([column]) => column,
);
