import { type Movement, movements } from './core/ledger/money-meter.ts';
import { type Measure, measures } from './core/measures.ts';
import { type NoticeName, noticeNames } from './core/notices.ts';

/** Every metric is in this namespace and has the dimension `service`: the environment's prefix, which tells those of one account apart. */
export const METRIC_NAMESPACE = 'ModelGateway';

/**
 * Of few values only, since each is paid for: an error's code, or `ok`; the function that a route belongs to, or `none`; the name of a
 * limit. Never an account, a model or an id.
 */
export type MetricDimension = 'code' | 'kind' | 'limit';

export interface MetricRow {
  /** As CloudWatch calls it. Money is a count of millionths of a USD. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds' | 'Bytes';
  /** Beside `service`. */
  readonly dimensions: readonly MetricDimension[];
}

const counted: MetricRow = { unit: 'Count', dimensions: [] };
const seconds: MetricRow = { unit: 'Seconds', dimensions: [] };

/** Of every request, once it has ended. */
const requestRows = [
  ['requests', { unit: 'Count', dimensions: ['code'] }],
  // 1 or 0, so that its average is the part that failed.
  ['failed_by_us', counted],
  ['total_ms', { unit: 'Milliseconds', dimensions: ['kind'] }],
  ['first_byte_ms', { unit: 'Milliseconds', dimensions: ['kind'] }],
  ['input_tokens', { unit: 'Count', dimensions: ['kind'] }],
  ['output_tokens', { unit: 'Count', dimensions: ['kind'] }],
  ['limited', { unit: 'Count', dimensions: ['limit'] }],
] as const satisfies readonly (readonly [string, MetricRow])[];

/** All others are counts. */
const measureRows: Readonly<Partial<Record<Measure, MetricRow>>> = {
  video_s: seconds,
  video_stored_bytes: { unit: 'Bytes', dimensions: [] },
  note_age_s: seconds,
};

export type MoneyMetric = `${Movement}_micro_usd`;
export const moneyMetric = (movement: Movement): MoneyMetric => `${movement}_micro_usd`;

export type RequestMetric = (typeof requestRows)[number][0];
export type MetricName = RequestMetric | NoticeName | Measure | MoneyMetric;

/** All that the code emits: no other name can be given to the reporting, nor to a dashboard or an alarm. */
export const metrics: ReadonlyMap<MetricName, MetricRow> = new Map<MetricName, MetricRow>([
  ...requestRows,
  ...movements.map((movement) => [moneyMetric(movement), counted] as const),
  ...measures.map((measure) => [measure, measureRows[measure] ?? counted] as const),
  ...noticeNames.map((name) => [name, counted] as const),
]);

export const rowOf = (name: MetricName): MetricRow => {
  const row = metrics.get(name);
  if (!row) throw new Error(`${name} is no metric`);
  return row;
};
